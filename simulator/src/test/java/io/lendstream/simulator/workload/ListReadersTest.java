package io.lendstream.simulator.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.Preemption;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.RoleFloor;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lists that say of jobs only how long they ran on how many GPUs, and tables of rates. */
class ListReadersTest {
    @TempDir
    private Path folder;

    private final Scene scene = Scene.of(new DomainId("test"), 1, 8, 20);

    private Workload read(Scene given, String... lines) throws IOException {
        Path file = Files.writeString(folder.resolve("list.csv"), String.join("\n", lines) + "\n");
        return Workloads.load(file.toString(), given);
    }

    @Test
    void readsPhillysListInAnyOrderFromItsFirstJobOn() throws IOException {
        Workload read = read(
                scene,
                "timestamp,duration,num_gpus,gpu_time,cluster",
                "2017-10-09 07:01:55,66.0,1,66.0,11cb48",
                "2017-10-09 07:00:55,600.0,8,4800.0,6214e9");

        assertThat(read.tasks())
                .extracting(task -> task.job().job().value())
                .containsExactly("6214e9-000002", "11cb48-000001");
        TrainingTask first = read.tasks().get(0);
        assertThat(first.job().submittedAt()).isEqualTo(Workload.EPOCH);
        assertThat(first.job().scaling().elastic()).isFalse();
        assertThat(first.job().scaling().minGpus()).isEqualTo(8);
        assertThat(first.job().scaling().maxGpus()).isEqualTo(8);
        assertThat(read.tasks().get(1).job().submittedAt()).isEqualTo(Workload.EPOCH.plusSeconds(60));
    }

    @Test
    void aRigidJobRunsForItsTimeOnItsGpus() throws IOException {
        TrainingTask task = read(scene, "job,submitSeconds,gpus,runSeconds", "train,5,4,100")
                .tasks()
                .get(0);

        assertThat(seconds(task, 4)).isCloseTo(100, within(1e-6));
        assertThat(task.job().submittedAt()).isEqualTo(Workload.EPOCH.plusSeconds(5));
    }

    @Test
    void anElasticJobFollowsAmdahlsLaw() throws IOException {
        TrainingTask task = read(scene.withElasticLists(true), "job,submitSeconds,gpus,runSeconds", "train,5,4,100")
                .tasks()
                .get(0);

        assertThat(task.job().scaling().minGpus()).isEqualTo(1);
        assertThat(task.job().scaling().maxGpus()).isEqualTo(16);
        assertThat(seconds(task, 4)).isCloseTo(100, within(1e-6));
        assertThat(seconds(task, 8)).isCloseTo(55, within(1e-6));
        assertThat(seconds(task, 2)).isCloseTo(190, within(1e-6));
    }

    /** How long all of it takes on so many GPUs of one node. */
    private static double seconds(TrainingTask task, int gpus) {
        int total = task.job().traits().batch().fixed().orElseThrow();
        StepTime step = task.truth().stepTime(GpusByNode.of(List.of(gpus)), total / gpus);
        return task.truth().totalProgress() * step.seconds();
    }

    @Test
    void readsOpenbsPodsAsJobsAndAsTheDemandOfOneService() throws IOException {
        Workload read = read(
                scene,
                "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time",
                "old,1,1,1,1000,,BE,Running,0,10600,0",
                "train,1,1,2,1000,,BE,Failed,10000,11000,10300",
                "never,1,1,1,1000,,BE,Pending,10100,10200,",
                "cpu,1,1,0,0,,LS,Running,10000,11000,10000",
                "serve,1,1,4,1000,,LS,Running,10000,10900,10300");

        assertThat(read.tasks())
                .extracting(task -> task.job().job().value() + " "
                        + Math.round(seconds(task, task.job().scaling().requestedGpus())))
                .containsExactly("old 600", "train 700");
        Demand.Rates demand = (Demand.Rates) read.loads().get(0).demand();
        assertThat(demand.step()).isEqualTo(Duration.ofMinutes(10));
        assertThat(demand.perSecond()).hasSize(2);
        assertThat(demand.perSecond().get(0)).isCloseTo(4 * 0.5 * 0.85, within(1e-9));
        assertThat(demand.perSecond().get(1)).isCloseTo(4 * 0.5 * 0.85, within(1e-9));
    }

    @Test
    void serveGensClientsTogetherNeedThreeQuartersOfTheGpusAtTheirPeak() throws IOException {
        String[] lines = new String[1 + 2 * 12];
        lines[0] = "client,t_s,rate_rps,cv,pattern,param1,param2";
        for (int client = 0; client < 12; client++) {
            lines[1 + 2 * client] = "%d,0,%d,1,Gamma,1,1".formatted(client, client);
            lines[2 + 2 * client] = "%d,600,%d,1,Gamma,1,1".formatted(client, 2 * client);
        }

        Workload read = read(scene, lines);

        assertThat(read.loads())
                .extracting(load -> load.service().service().value())
                .hasSize(11)
                .contains("client-11", "client-2", "clients")
                .doesNotContain("client-1", "client-0");
        double peakReplicas = read.loads().stream()
                .mapToDouble(load ->
                        ((Demand.Rates) load.demand()).peak() / (load.service().replicaCapacityPerSecond() * 0.85))
                .sum();
        assertThat(peakReplicas).isCloseTo(15, within(1e-9));
    }

    @Test
    void readsQueuesWithAQuotaForEachLine() throws IOException {
        Workload read = read(
                scene,
                "queue,nominalQuota,cohort,borrowingLimit,lendingLimit,kind,weight",
                "team-a,8,research,4,,,2",
                "team-a,2,,,,T4,",
                "team-b,16");

        assertThat(read.queues())
                .containsExactly(
                        new ClusterQueue(
                                new QueueId("team-a"),
                                scene.domain(),
                                scene.start(),
                                Optional.of("research"),
                                2,
                                List.of(
                                        new KindQuota(Optional.empty(), 8, Optional.of(4.0), Optional.empty()),
                                        KindQuota.of(Optional.of(new KindId("Tesla-T4-16GB")), 2))),
                        new ClusterQueue(
                                new QueueId("team-b"),
                                scene.domain(),
                                scene.start(),
                                Optional.empty(),
                                1,
                                List.of(KindQuota.of(Optional.empty(), 16))));
    }

    @Test
    void jobsNameTheirQueues() throws IOException {
        Workload read = read(scene, "job,submitSeconds,gpus,runSeconds,queue", "a,0,1,10,team-a", "b,0,1,10,");

        assertThat(read.tasks())
                .extracting(task -> task.job().queue())
                .containsExactly(Optional.of(new QueueId("team-a")), Optional.empty());
    }

    @Test
    void jobsHaveDeadlines() throws IOException {
        Workload read = read(
                scene,
                "job,submitSeconds,gpus,runSeconds,deadline,deadlineKind",
                "a,5,1,10,60,hard",
                "b,5,1,10,90,",
                "c,5,1,10,,");

        assertThat(read.tasks())
                .extracting(task -> task.job().precedence().deadline())
                .containsExactly(
                        Optional.of(scene.start().plusSeconds(60)),
                        Optional.of(scene.start().plusSeconds(90)),
                        Optional.empty());
        assertThat(read.tasks())
                .extracting(task -> task.job().hardDeadline().isPresent())
                .containsExactly(true, false, false);
    }

    @Test
    void refusesDeadlinesThatCannotBe() {
        String header = "job,submitSeconds,gpus,runSeconds,deadline,deadlineKind";
        assertThatThrownBy(() -> read(scene, header, "a,5,1,10,5,hard"))
                .hasMessageEndingWith("line 2, column deadline: found '5', expected a number above submitSeconds");
        assertThatThrownBy(() -> read(scene, header, "a,5,1,10,,hard"))
                .hasMessageEndingWith(
                        "column deadline: found '', expected a number of seconds, because the line has a deadlineKind");
        assertThatThrownBy(() -> read(scene, header, "a,5,1,10,60,firm"))
                .hasMessageEndingWith("column deadlineKind: found 'firm', expected soft or hard");
    }

    @Test
    void queuesAndJobsMayHavePrioritiesAndRules() throws IOException {
        Workload queues = read(
                scene,
                "queue,nominalQuota,withinClusterQueue,reclaimWithinCohort",
                "team-a,8,LowerPriority,Never",
                "team-b,8,,");
        Workload jobs =
                read(scene, "job,submitSeconds,gpus,runSeconds,queue,priority", "a,0,1,10,team-a,7", "b,0,1,10,,");

        assertThat(queues.queues())
                .extracting(ClusterQueue::within)
                .containsExactly(Preemption.LOWER_PRIORITY, Preemption.NEVER);
        assertThat(queues.queues())
                .extracting(ClusterQueue::inCohort)
                .containsExactly(Preemption.NEVER, Preemption.ANY);
        assertThat(jobs.tasks())
                .extracting(task -> task.job().precedence().priority())
                .containsExactly(7, 0);
        assertThatThrownBy(() -> read(scene, "queue,nominalQuota,withinClusterQueue", "team-a,8,Sometimes"))
                .hasMessageContaining("expected Never or LowerPriority");
    }

    @Test
    void jobsNameAClassOfTheirQueue() throws IOException {
        Workload queues = read(scene, "queue,nominalQuota,priorityClasses", "team-a,8,high:10; low:-5", "team-b,8,");
        Workload jobs =
                read(scene, "job,submitSeconds,gpus,runSeconds,queue,priority,priorityClass", "a,0,1,10,team-a,7,high");

        assertThat(queues.queues())
                .extracting(ClusterQueue::priorityClasses)
                .containsExactly(Map.of("high", 10, "low", -5), Map.of());
        assertThat(jobs.tasks().get(0).job().precedence())
                .isEqualTo(new TrainingJob.Precedence(7, new QueueId("team-a"), Optional.of("high")));
        assertThatThrownBy(() -> read(scene, "job,submitSeconds,gpus,runSeconds,priorityClass", "a,0,1,10,high"))
                .hasMessageEndingWith(
                        "column priorityClass: found 'high', expected a class of its queue, but the line has no queue");
        assertThatThrownBy(() -> read(scene, "queue,nominalQuota,priorityClasses", "a,8,high:x"))
                .hasMessageContaining("found 'high:x', expected CLASS:PRIORITY between semicolons");
        assertThatThrownBy(() -> read(scene, "queue,nominalQuota,priorityClasses", "a,8,high:1;high:2"))
                .hasMessageContaining("expected NAME:VALUE between semicolons, each name once");
    }

    @Test
    void aLineSaysWhetherItsJobIsElastic() throws IOException {
        String header = "job,submitSeconds,gpus,runSeconds,elastic,minGpus,maxGpus";
        Workload jobs = read(scene, header, "a,0,4,10,true,2,6", "b,0,4,10,true,,", "c,0,4,10,,,");
        Workload elastic = read(scene.withElasticLists(true), header, "a,0,4,10,false,,", "b,0,4,10,,,8");

        assertThat(jobs.tasks())
                .extracting(task -> task.job().scaling())
                .containsExactly(
                        new TrainingJob.Scaling(4, 2, 6, true),
                        new TrainingJob.Scaling(4, 1, 16, true),
                        new TrainingJob.Scaling(4, 4, 4, false));
        assertThat(elastic.tasks())
                .extracting(task -> task.job().scaling())
                .containsExactly(new TrainingJob.Scaling(4, 4, 4, false), new TrainingJob.Scaling(4, 1, 8, true));
        assertThatThrownBy(() -> read(scene, header, "a,0,4,10,,2,"))
                .hasMessageEndingWith(
                        "column minGpus: found '2', expected nothing, because the job is rigid; set elastic to true");
        assertThatThrownBy(() -> read(scene, header, "a,0,4,10,true,5,"))
                .hasMessageEndingWith("column minGpus: found '5', expected at most 4, the GPUs that it had");
        assertThatThrownBy(() -> read(scene, header, "a,0,4,10,true,,3"))
                .hasMessageEndingWith("column maxGpus: found '3', expected a whole number from 4 to 960");
        assertThatThrownBy(() -> read(scene, header, "a,0,4,10,yes,,"))
                .hasMessageEndingWith("column elastic: found 'yes', expected true or false");
    }

    @Test
    void servicesHaveFloorsAndMemory() throws IOException {
        Files.writeString(folder.resolve("rates.csv"), "epoch_s,value\n0,10\n60,20\n");
        String header =
                "service,series,secondsPerRequest,replicaCapacityPerSecond,sloMs,warmUpSeconds,scale,floorReplicas,memoryGib,replicaShapes,roleFloors";
        String line = "a,rates.csv,1,1,500,1,1,";

        InferenceService plain =
                read(scene, header, line + "2,14,,").loads().get(0).service();
        InferenceService roles = read(scene, header, line + "1,14,in:1x1:38:30:prefill;out:2x1:27:90:decode,decode:3")
                .loads()
                .get(0)
                .service();

        assertThat(plain.floorReplicas()).isEqualTo(2);
        assertThat(plain.sliceMemoryBytes()).contains(14L << 30);
        assertThat(roles.floorReplicas()).isEqualTo(1);
        assertThat(roles.sliceMemoryBytes()).isEmpty();
        assertThat(roles.hardware().shapes())
                .extracting(ReplicaShape::memoryBytes)
                .containsOnly(Optional.of(14L << 30));
        assertThat(roles.hardware().roleFloors()).containsExactly(new RoleFloor(ReplicaRole.DECODE, 3));
        assertThatThrownBy(() -> read(scene, header, line + ",,,decode:1"))
                .hasMessageEndingWith(
                        "column roleFloors: found 'decode:1', expected roles of replicaShapes: prefill and decode");
        assertThatThrownBy(() -> read(scene, header, line + ",,in:1x1:38:30:prefill;out:2x1:27:90:decode,decode:-1"))
                .hasMessageContaining("expected ROLE:REPLICAS between semicolons, with whole numbers from 0 to 1000");
    }

    @Test
    void refusesColumnsThatOurListsDoNotHave() throws IOException {
        assertThatThrownBy(() -> read(scene, "job,submitSeconds,gpus,runSeconds,kindz", "a,0,1,10,T4"))
                .hasMessageContaining(
                        "list.csv, line 1: unknown column 'kindz', expected job, submitSeconds, gpus, runSeconds, application");
        assertThatThrownBy(() -> read(scene, "queue,nominalQuota,wait", "a,0,1"))
                .hasMessageContaining("line 1: unknown column 'wait', expected queue, nominalQuota, kind");
        assertThatThrownBy(() -> read(scene, "job,submitSeconds,gpus,runSeconds,queue,queue", "a,0,1,10,b,c"))
                .hasMessageContaining("line 1: column 'queue' is there twice");
        assertThat(read(scene, "timestamp,duration,num_gpus,gpu_time,cluster,more", "2017-10-09 07:01:55,66,1,66,a,b")
                        .tasks())
                .as("published formats may have other columns")
                .hasSize(1);
    }

    @Test
    void refusesQueuesThatCannotBe() {
        assertThatThrownBy(() -> read(scene, "queue,nominalQuota", "team-a,-1"))
                .hasMessageEndingWith("line 2, column nominalQuota: found '-1', expected a number of at least 0");
        assertThatThrownBy(() -> read(scene, "queue,nominalQuota", "team-a,1", "team-a,2"))
                .hasMessageEndingWith(
                        "line 3, column queue: found 'team-a', expected one quota of each queue for the kinds that it does not name, but line 2 has one too");
        assertThatThrownBy(() -> read(scene, "queue,nominalQuota", "team a,1"))
                .hasMessageContaining("line 2, column queue: found 'team a', expected a name");
        assertThatThrownBy(() -> read(scene, "queue,nominalQuota", ",1")).hasMessageContaining("expected a name");
    }

    @Test
    void saysWhereABadLineStands() {
        assertThatThrownBy(() -> read(scene, "job,submitSeconds,gpus,runSeconds", "a,0,1,10", "b,0,1,0"))
                .hasMessageEndingWith("list.csv, line 3, column runSeconds: found '0', expected a number above 0");
        assertThatThrownBy(() -> read(scene, "job,submitSeconds,gpus,runSeconds", "a,0,1,10", "a,9,1,20"))
                .as("two jobs of one name would be taken for one")
                .hasMessageContaining("line 3, column job: found 'a'");
        assertThatThrownBy(() -> read(scene, "job,submitSeconds,gpus,runSeconds", "a,1700000000000,1,10"))
                .as("milliseconds since 1970")
                .hasMessageContaining(
                        "line 2, column submitSeconds: found '1700000000000', expected at most 1000000000");
        assertThatThrownBy(() ->
                        read(scene, "timestamp,duration,num_gpus,gpu_time,cluster", "yesterday,66.0,1,66.0,11cb48"))
                .hasMessageContaining("line 2, column timestamp: found 'yesterday', expected a time such as");
    }
}
