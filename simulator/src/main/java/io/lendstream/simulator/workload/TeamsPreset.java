package io.lendstream.simulator.workload;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.DeadlineKind;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.Preemption;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.GoodputModel;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.simulated.SimulatedTopology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * The preset of teams that share a cluster: three queues whose nominal quotas make up all GPUs, and a fourth without a
 * quota of its own that borrows what they leave idle. All are of one cohort. Jobs are those of the other presets; half
 * of them have a fixed size. Those of several GPUs among these are gangs, which require one node or prefer to be near.
 * Some jobs are urgent, and some have deadlines. Teams work at different times, so that each lends and takes back.
 */
final class TeamsPreset {
    static final String NAME = "teams";

    private static final int HOURS = 24;
    private static final double ARRIVAL_HOURS = 14;
    private static final double WORK_SHARE = 0.62;
    private static final int JOBS = 120;
    private static final double GANGS = 0.5;
    private static final double URGENT = 0.2;
    /** The share of gangs which fit in a node that require one. */
    private static final double ON_ONE_NODE = 0.5;
    /** GPUs of a usual node: larger gangs never require one. */
    private static final int NODE_GPUS = 4;

    private static final double HARD = 0.1;
    private static final double SOFT = 0.2;
    /** The least time until a deadline, in run times on the GPUs that the owner asks for. */
    private static final double LEAST_SLACK = 2;

    private static final double MOST_SLACK = 6;

    static final SimulatedTopology TOPOLOGY = new SimulatedTopology(2, 4);
    private static final Map<String, Integer> CLASSES = Map.of("urgent", 10, "usual", 0);

    /**
     * A team.
     *
     * @param share of all GPUs that are its nominal quota
     * @param weight of its share of GPUs that the others lend
     * @param from the share of the arrivals before the time in which the team submits its jobs
     * @param until the same for the end of that time
     */
    private record Team(String name, double share, double weight, double from, double until) {}

    private static final List<Team> TEAMS = List.of(
            new Team("research", 0.5, 2, 0, 0.7),
            new Team("vision", 0.3, 1, 0.2, 1),
            new Team("speech", 0.2, 1, 0.5, 1),
            new Team("batch", 0, 1, 0, 1));

    private TeamsPreset() {}

    /** Jobs and queues for all GPUs of a scene. */
    static Workload create(Scene scene, RandomGenerator chance) {
        int gpus = scene.trainingGpus() + scene.inferenceGpus();
        Scene whole = new Scene(
                scene.domain(),
                scene.start(),
                scene.seed(),
                gpus,
                0,
                Optional.empty(),
                Optional.empty(),
                scene.elasticLists());
        List<TrainingTask> drawn =
                new TrainingGenerator(whole, chance).generate(JOBS, ARRIVAL_HOURS, WORK_SHARE * HOURS * gpus);
        List<TrainingTask> tasks = new ArrayList<>();
        for (int i = 0; i < drawn.size(); i++) {
            Team team = team((double) i / drawn.size(), chance);
            TrainingTask task = drawn.get(i);
            tasks.add(task.with(withDeadline(job(task.job(), team, gpus, chance), runTime(task), chance)));
        }
        return new Workload(
                NAME,
                scene.start(),
                tasks,
                List.of(),
                TEAMS.stream().map(team -> queue(team, gpus, scene)).toList());
    }

    /** A team that submits jobs at a part of the arrivals. */
    private static Team team(double part, RandomGenerator chance) {
        List<Team> working = TEAMS.stream()
                .filter(team -> team.from <= part && part < team.until)
                .toList();
        return working.get(chance.nextInt(working.size()));
    }

    /** GPUs of a team; the first team has those that are left by rounding. */
    private static int nominal(Team team, int gpus) {
        int others = TEAMS.stream()
                .skip(1)
                .mapToInt(other -> (int) (other.share * gpus))
                .sum();
        return team.equals(TEAMS.get(0)) ? gpus - others : (int) (team.share * gpus);
    }

    private static ClusterQueue queue(Team team, int gpus, Scene scene) {
        return new ClusterQueue(
                        new QueueId(team.name),
                        scene.domain(),
                        scene.start(),
                        Optional.of("teams"),
                        team.weight,
                        List.of(KindQuota.of(Optional.empty(), nominal(team, gpus))))
                .preempting(Preemption.LOWER_PRIORITY, Preemption.ANY)
                .withClasses(CLASSES);
    }

    /** A job of a team: one of a fixed size, which is no larger than the team's nominal quota, or an elastic one. */
    private static TrainingJob job(TrainingJob job, Team team, int gpus, RandomGenerator chance) {
        TrainingJob.Scaling scaling = job.scaling();
        JobShape shape = job.shape();
        int nominal = nominal(team, gpus);
        if (chance.nextDouble() < GANGS) {
            int size = nominal > 0 ? Math.min(nominal, scaling.requestedGpus()) : scaling.requestedGpus();
            scaling = new TrainingJob.Scaling(size, 1, Math.max(size, scaling.maxGpus()), false);
            shape = size > 1 ? gang(shape, size, chance) : shape;
        }
        String name = chance.nextDouble() < URGENT ? "urgent" : "usual";
        TrainingJob.Precedence precedence = new TrainingJob.Precedence(0, new QueueId(team.name), Optional.of(name));
        return new TrainingJob(
                job.job(),
                job.domain(),
                job.submittedAt(),
                job.application(),
                scaling,
                precedence,
                job.traits(),
                job.runner(),
                job.sliceMemoryBytes(),
                job.kindNeeds(),
                shape,
                job.hostNeed());
    }

    /** A gang that requires one node or prefers one NVLink domain; one that is larger than a node prefers one rack. */
    private static JobShape gang(JobShape shape, int size, RandomGenerator chance) {
        boolean isOnOneNode = chance.nextDouble() < ON_ONE_NODE;
        if (size > NODE_GPUS) {
            return shape.within(TopologyLevel.RACK, false).together();
        }
        return shape.within(isOnOneNode ? TopologyLevel.NODE : TopologyLevel.NVLINK_DOMAIN, isOnOneNode)
                .together();
    }

    /** How long a task runs on the GPUs that its owner asks for. */
    private static Duration runTime(TrainingTask task) {
        ModelTruth truth = (ModelTruth) task.truth();
        int gpus = task.job().scaling().requestedGpus();
        GoodputModel model = new GoodputModel(truth.throughput(), truth.noise().get(truth.epochs() / 2), truth.batch());
        int nodes = (gpus + NODE_GPUS - 1) / NODE_GPUS;
        double perSecond = model.best(nodes, gpus).goodput() / truth.batch().initial();
        return Duration.ofSeconds((long) Math.ceil(truth.totalProgress() / perSecond));
    }

    private static TrainingJob withDeadline(TrainingJob job, Duration runTime, RandomGenerator chance) {
        double draw = chance.nextDouble();
        double slack = LEAST_SLACK + (MOST_SLACK - LEAST_SLACK) * chance.nextDouble();
        if (draw >= HARD + SOFT) {
            return job;
        }
        return job.due(
                job.submittedAt().plusSeconds((long) (slack * runTime.toSeconds())),
                draw < HARD ? DeadlineKind.HARD : DeadlineKind.SOFT);
    }
}
