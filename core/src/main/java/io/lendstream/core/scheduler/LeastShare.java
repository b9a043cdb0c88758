package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.Limits;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.Goodput;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.ScheduledJob;
import io.lendstream.core.policy.ShapedJob;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QueueState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The least number of GPUs of one kind with which a job ends by its hard deadline, by its goodput and its remaining
 * work: the minimum satisfactory share of ElasticFlow, for a constant number of GPUs from now on. It is a size that the
 * job's shape allows, and it has to fit the GPUs of the training pool beside the shares of admitted jobs. Loans do not
 * count, because inference may reclaim them at any time. Above 64 GPUs sizes are tried in steps of 3 per cent.
 *
 * @see <a href="https://doi.org/10.1145/3575693.3575721">ElasticFlow, ASPLOS 2023, minimum satisfactory share</a>
 */
final class LeastShare {
    private static final int FINEST_STEPS = 32;

    private final StepBuilder builder;
    private final SchedulerSettings settings;
    private final TrainingView training;
    private final QueueLedger unused;
    private final List<KindRoom> rooms;

    /**
     * A kind on which a job may run.
     *
     * @param bound the most GPUs of it that the job can count on
     * @param needed the least with which it ends in time, up to the bound; empty if there is no such number
     * @param seconds how long it takes with as many, or else with the bound
     */
    private record Candidate(KindRoom room, int bound, Optional<Integer> needed, double seconds) {
        boolean fits() {
            return needed.filter(gpus -> gpus <= room.free()).isPresent();
        }
    }

    /**
     * What a job needs and could get of one kind, at best.
     *
     * @param least the least number that its shape allows; {@link ShapedJob#NO_SIZE} if the nodes have none
     * @param mostOfDomain the most GPUs that it may use
     * @param most the same within the quota of its queue
     */
    private record Sizes(int least, int mostOfDomain, int most, boolean fitsDomain, boolean fits) {}

    LeastShare(StepBuilder builder, SchedulerSettings settings, List<KindRoom> rooms) {
        this.builder = builder;
        this.settings = settings;
        this.training = new TrainingView(builder, settings);
        this.unused = new QueueLedger(
                builder.entities().queues().stream().map(QueueState::spec).toList());
        this.rooms = rooms;
    }

    /** Whether a job can run, and by its hard deadline if it has one. */
    AdmissionAnswer of(JobState job) {
        AdmissionAnswer size = size(job);
        Optional<Instant> deadline = job.spec().hardDeadline();
        return size.possible() && deadline.isPresent() ? byDeadline(job, deadline.get()) : size;
    }

    /** Whether a job can ever have its least number of GPUs: of its kinds and shape, and within its queue's quota. */
    boolean hasSize(JobState job) {
        return runsOnInstance(job) || sizes(job).fits;
    }

    private static boolean runsOnInstance(JobState job) {
        return job.spec().sliceMemoryBytes().isPresent() && job.spec().startsOnOne();
    }

    /** The answer to the size of a job. */
    private AdmissionAnswer size(JobState job) {
        Sizes sizes = sizes(job);
        int least = sizes.least < ShapedJob.NO_SIZE
                ? sizes.least
                : job.spec().scaling().least();
        Map<String, Double> numbers = new TreeMap<>();
        numbers.put("needed", (double) least);
        numbers.put("most", (double) sizes.most);
        String asked = "it needs %s at once".formatted(Reason.counted(least, "GPU"));
        if (sizes.fits || runsOnInstance(job)) {
            return AdmissionAnswer.yes("%s and can get up to %d".formatted(asked, sizes.most), numbers);
        }
        if (!sizes.fitsDomain) {
            return least > sizes.mostOfDomain
                    ? AdmissionAnswer.no(tooFew(asked, sizes.mostOfDomain), numbers)
                    : noSize(job, numbers);
        }
        QueueId queue = job.spec().queue().orElseThrow();
        boolean hasQuota = rooms.stream()
                .anyMatch(room ->
                        room.isFor(job.spec()) && unused.use(queue, room.kind()).isPresent());
        String why = hasQuota
                ? "may use at most %s%s, with all that it can borrow"
                        .formatted(Reason.counted(sizes.most, "GPU"), ofOneKind())
                : rooms.size() > 1 ? "has no quota for a kind that it may use" : "has no quota for these GPUs";
        return AdmissionAnswer.no(Optional.of(queue), "%s, and queue %s %s".formatted(asked, queue, why), numbers);
    }

    private Sizes sizes(JobState job) {
        Sizes sizes = new Sizes(ShapedJob.NO_SIZE, 0, 0, false, false);
        for (KindRoom room : rooms) {
            if (room.isFor(job.spec())) {
                int least = room.inAll(job, seen(job, room)).least();
                int most = Math.min(room.most(), limit(job, room));
                sizes = new Sizes(
                        Math.min(sizes.least, least),
                        Math.max(sizes.mostOfDomain, room.most()),
                        Math.max(sizes.most, most),
                        sizes.fitsDomain || least <= room.most(),
                        sizes.fits || least <= most);
            }
        }
        return sizes;
    }

    private String tooFew(String asked, int mostOfDomain) {
        return mostOfDomain == 0
                ? asked + ", and the domain has none of a kind that it may use"
                : "%s, and the domain has only %s%s for it"
                        .formatted(asked, Reason.counted(mostOfDomain, "GPU"), ofOneKind());
    }

    /** The answer to a job whose shape no nodes fit. */
    private AdmissionAnswer noSize(JobState job, Map<String, Double> numbers) {
        JobShape shape = job.spec().shape();
        int least = job.spec().scaling().least();
        int asked = Math.max(least, shape.atLeast(least));
        int largest = 0;
        for (KindRoom room : rooms) {
            largest = room.isFor(job.spec()) ? Math.max(largest, room.mostOfDomain(job)) : largest;
        }
        if (shape.required().isEmpty() || asked <= largest) {
            return AdmissionAnswer.no(
                    "no number of GPUs fits both its shape (%s) and the nodes of the domain".formatted(shape.inWords()),
                    numbers);
        }
        numbers.put("needed", (double) asked);
        numbers.put("largest", (double) largest);
        String level = shape.required().get().level().inWords();
        return AdmissionAnswer.no(
                "it needs %s in one %s, and no %s has more than %d%s for it"
                        .formatted(Reason.counted(asked, "GPU"), level, level, largest, ofOneKind()),
                numbers);
    }

    /** A job as policies see it on a kind, without its shape. */
    private JobView seen(JobState job, KindRoom room) {
        return training.seen(job, room.gpusPerNode(), ScheduledJob.Kinds.of(room.kind()));
    }

    private String ofOneKind() {
        return rooms.size() > 1 ? " of one kind" : "";
    }

    private int limit(JobState job, KindRoom room) {
        return builder.entities()
                .queueOf(new Tenant.Job(job.spec().job()))
                .map(queue -> room.limit(queue.queue(), unused))
                .orElse(Integer.MAX_VALUE);
    }

    private AdmissionAnswer byDeadline(JobState job, Instant deadline) {
        double left = Limits.millis(Duration.between(builder.now(), deadline)) / 1000.0;
        Map<String, Double> numbers = new TreeMap<>();
        numbers.put("needed", (double) job.spec().leastSize());
        numbers.put("secondsLeft", left);
        if (left <= 0) {
            return AdmissionAnswer.no("its deadline %s is over".formatted(Wording.time(deadline)), numbers);
        }
        if (job.work().totalProgress().isEmpty()) {
            return AdmissionAnswer.yes(
                    "its total work is not known, so it may end before or after its deadline %s, and no GPUs are reserved for it"
                            .formatted(Wording.time(deadline)),
                    numbers);
        }
        if (settings.learn() && job.isSpeedUnknown()) {
            return AdmissionAnswer.yes(
                    "its speed is not known yet, so it may end before or after its deadline %s, and no GPUs are reserved for it"
                            .formatted(Wording.time(deadline)),
                    numbers);
        }
        List<Candidate> candidates = new ArrayList<>();
        for (KindRoom room : rooms) {
            if (room.isFor(job.spec())) {
                candidates.add(candidate(job, room, left));
            }
        }
        return candidates.stream()
                .min(Comparator.comparing((Candidate each) -> !each.fits())
                        .thenComparing(each -> each.needed().isEmpty())
                        .thenComparingInt(each -> each.needed().orElse(0))
                        .thenComparingDouble(Candidate::seconds))
                .map(best -> inWords(job, deadline, best, numbers))
                .orElseGet(() -> AdmissionAnswer.no("there is no GPU that it may use", numbers));
    }

    private Candidate candidate(JobState job, KindRoom room, double left) {
        int perNode = room.gpusPerNode();
        JobView seen = room.inOwn(job, seen(job, room));
        Goodput goodput = seen.goodput().orElse((nodes, gpus) -> 0);
        int own = training.onOneNode() ? room.ownOnOneNode() : room.own();
        int bound = seen.fit(Math.min(Math.min(own, limit(job, room)), seen.most()));
        double start = job.gpus() == 0 ? Limits.millis(seen.costs().first()) / 1000.0 : 0;
        double seconds = Double.POSITIVE_INFINITY;
        for (int gpus = seen.least(); gpus <= bound; gpus = next(seen, gpus, bound)) {
            int nodes = (gpus + perNode - 1) / perNode;
            seconds = start + work(job) / goodput.on(nodes, gpus);
            if (seconds <= left) {
                return new Candidate(room, bound, Optional.of(gpus), seconds);
            }
        }
        return new Candidate(room, bound, Optional.empty(), seconds);
    }

    /** The next size to try; the bound is always one. */
    private static int next(JobView seen, int gpus, int bound) {
        int step = Math.max(1, gpus / FINEST_STEPS);
        return gpus == bound ? bound + 1 : Math.min(bound, seen.next(gpus + step - 1));
    }

    /** The work that a job has still to do, in samples of the initial batch. */
    private static double work(JobState job) {
        TrainingJob.Traits traits = job.spec().traits();
        double iterations = job.work().totalProgress().orElse(0.0) - job.progress();
        return Math.max(1, iterations) * traits.batch().initial();
    }

    private AdmissionAnswer inWords(JobState job, Instant deadline, Candidate best, Map<String, Double> numbers) {
        KindRoom room = best.room();
        String by = Wording.time(deadline);
        String own = "%d training %s%s".formatted(room.own(), room.own() == 1 ? "GPU" : "GPUs", room.ofKind());
        numbers.put("own", (double) room.own());
        numbers.put("promised", (double) room.promised());
        if (Double.isFinite(best.seconds())) {
            numbers.put("secondsNeeded", best.seconds());
        }
        if (best.needed().isEmpty()) {
            String why = Double.isFinite(best.seconds())
                    ? "with %s it takes %.0f s, and %.0f s are left"
                            .formatted(
                                    Reason.counted(best.bound(), "GPU"),
                                    best.seconds(),
                                    numbers.getOrDefault("secondsLeft", 0.0))
                    : tooFewOfOwn(job, best.bound(), own);
            return AdmissionAnswer.no("it cannot end by its deadline %s: %s".formatted(by, why), numbers);
        }
        int share = best.needed().get();
        numbers.put("needed", (double) share);
        if (!best.fits()) {
            return AdmissionAnswer.no(
                    "it needs %s to end by its deadline %s, and admitted jobs with hard deadlines need %d of %s"
                            .formatted(Reason.counted(share, "GPU"), by, room.promised(), own),
                    numbers);
        }
        numbers.put("share", (double) share);
        return AdmissionAnswer.yes(
                room,
                share,
                "with %s%s it ends by its deadline %s; jobs with hard deadlines then need %d of %s"
                        .formatted(Reason.counted(share, "GPU"), room.ofKind(), by, room.promised() + share, own),
                numbers);
    }

    private String tooFewOfOwn(JobState job, int bound, String own) {
        JobShape shape = job.spec().shape();
        return "it needs at least %s%s, and can count on %d of %s%s"
                .formatted(
                        Reason.counted(job.spec().scaling().least(), "GPU"),
                        shape.isAny() ? "" : " in its shape (%s)".formatted(shape.inWords()),
                        bound,
                        own,
                        training.onOneNode() ? ", as no actuator runs one job on several nodes" : "");
    }
}
