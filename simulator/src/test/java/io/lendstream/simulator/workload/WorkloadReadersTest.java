package io.lendstream.simulator.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.StartTimes;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.simulated.SimulatedGpu;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WorkloadReadersTest {
    @TempDir
    Path folder;

    private Scene scene;

    @BeforeEach
    void writeProfilesOfBert() throws IOException {
        Path bert = Files.createDirectories(folder.resolve("profiles/bert"));
        Files.writeString(bert.resolve("placements.csv"), """
                placement,local_bsz,step_time,sync_time
                1,4,0.4,0.0
                1,12,0.8,0.0
                2,4,0.5,0.1
                2,12,0.9,0.1
                11,4,0.6,0.2
                11,12,1.0,0.2
                21,4,0.7,0.3
                21,12,1.1,0.3
                1111,4,0.8,0.4
                1111,12,1.2,0.4
                """);
        Files.writeString(bert.resolve("scalability.csv"), """
                num_nodes,num_replicas,local_bsz,step_time,sync_time
                6,6,4,1.0,0.6
                6,6,12,1.4,0.6
                6,12,4,1.6,1.2
                6,12,12,2.0,1.2
                """);
        Files.writeString(bert.resolve("validation-12.csv"), """
                progress,iteration,metric,grad_sqr,grad_var
                100,99,0.5,2.0,10.0
                200,199,0.6,1.0,20.0
                """);
        Files.writeString(bert.resolve("validation-24.csv"), """
                progress,iteration,metric,grad_sqr,grad_var
                90,49,0.5,4.0,30.0
                210,99,0.6,2.0,40.0
                """);
        scene = Scene.of(new DomainId("test"), 1, 8, 8).withProfiles(folder.resolve("profiles"));
    }

    @Test
    void aCompressedFileThatWasCutOffIsRefusedByItsName() throws IOException {
        var packed = new ByteArrayOutputStream();
        try (var out = new GZIPOutputStream(packed)) {
            out.write("job,submitSeconds,gpus,runSeconds\na,0,2,600\n".getBytes(StandardCharsets.UTF_8));
        }
        Path whole = Files.write(folder.resolve("whole.csv.gz"), packed.toByteArray());
        Path cut = Files.write(folder.resolve("cut.csv.gz"), Arrays.copyOf(packed.toByteArray(), packed.size() - 9));
        Path plain = Files.writeString(folder.resolve("plain.csv.gz"), "job,submitSeconds,gpus,runSeconds\n");

        assertThat(Workloads.load(whole.toString(), scene).tasks()).hasSize(1);
        assertThatThrownBy(() -> Workloads.load(cut.toString(), scene))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(cut + " is cut off: the gzip stream ends early; copy it again");
        assertThatThrownBy(() -> Workloads.load(plain.toString(), scene))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(plain + " is not a valid gzip file")
                .hasMessageContaining("copy it again");
    }

    @ParameterizedTest
    @ValueSource(strings = {"jobs.csv", "jobs.csv.gz"})
    void aFileWithoutAByteIsEmptyAndNotCutOff(String name) throws IOException {
        Path empty = Files.createFile(folder.resolve(name));

        assertThatThrownBy(() -> Workloads.load(empty.toString(), scene))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(empty + " is empty; give a file with a header and rows");
        assertThatThrownBy(() -> CsvTable.read(empty, "job"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(empty + " is empty; expected a header with job");
    }

    private Path workload(String... lines) throws IOException {
        return Files.writeString(folder.resolve("work.csv"), String.join("\n", lines) + "\n");
    }

    @Test
    void readsJobsAndRequestsOfTheDeepBootFormat() throws IOException {
        Path file = workload(
                "name,time,application,num_replicas,batch_size,duration,num_task",
                "inference-bert-1,5,infer-bert-1,1,1,7.0,530",
                "bert-0,107,bert,6,384,4.0,-1",
                "inference-bert-2,9,infer-bert-1,1,1,3.0,20");

        Workload read = Workloads.load(file.toString(), scene);

        assertThat(read.name()).isEqualTo("work");
        assertThat(read.tasks()).hasSize(1);
        TrainingTask task = read.tasks().get(0);
        assertThat(task.job().submittedAt()).isEqualTo(Workload.EPOCH.plusSeconds(107));
        assertThat(task.job().scaling().requestedGpus()).isEqualTo(6);
        assertThat(task.job().scaling().maxGpus()).isEqualTo(64);
        assertThat(task.job().traits().costs().first()).isEqualTo(Duration.ofSeconds(103));
        assertThat(task.truth().epochs()).isEqualTo(2);
        assertThat(task.truth().progressAfter(0)).isEqualTo(90);
        assertThat(task.truth().totalProgress()).isEqualTo(200);
        ServiceLoad load = read.loads().get(0);
        assertThat(load.service().warmUp()).isEqualTo(Duration.ofSeconds(8));
        assertThat(load.service().replicaCapacityPerSecond()).isEqualTo(0.2);
        assertThat(load.service().replicaConcurrency()).isEqualTo(Optional.of(1));
        assertThat(((Demand.Requests) load.demand()).requests())
                .extracting(Request::name)
                .containsExactly("inference-bert-1", "inference-bert-2");
    }

    @Test
    void readsThePolluxFormatWithoutInference() throws IOException {
        Path file = workload("name,time,application,num_replicas,batch_size", "bert-0,10,bert,6,384");

        assertThat(Workloads.load(file.toString(), scene).tasks()).hasSize(1);
    }

    @Test
    void looksUpMeasuredPlacementsWhereverTheRingBegins() throws IOException {
        GroundTruth truth = bert();

        assertThat(truth.stepTime(GpusByNode.of(List.of(1, 2)), 4)).isEqualTo(new StepTime(0.7, 0.3));
        assertThat(truth.stepTime(GpusByNode.of(List.of(2)), 8).seconds()).isCloseTo(0.7, within(1e-12));
        assertThat(truth.stepTime(GpusByNode.of(List.of(2)), 8).syncSeconds()).isCloseTo(0.1, within(1e-12));
    }

    @Test
    void interpolatesBetweenMeasuredNumbersOfNodesBeyondFour() throws IOException {
        GroundTruth truth = bert();

        // Five nodes lie halfway between four (0.8 s with a GPU each) and six (1.0 s).
        assertThat(truth.stepTime(GpusByNode.of(List.of(1, 1, 1, 1, 1)), 4).seconds())
                .isCloseTo(0.9, within(1e-12));
        // Nine GPUs on six nodes lie halfway between six and twelve.
        assertThat(truth.stepTime(GpusByNode.of(List.of(1, 1, 1, 2, 2, 2)), 4).seconds())
                .isCloseTo(1.3, within(1e-12));
    }

    @Test
    void interpolatesGradientStatisticsBetweenMeasuredBatches() throws IOException {
        assertThat(bert().noise(0, 18)).isEqualTo(new GradientNoise(3, 20));
        assertThat(bert().noise(1, 384)).isEqualTo(new GradientNoise(2, 40));
    }

    private GroundTruth bert() throws IOException {
        Path file = workload("name,time,application,num_replicas,batch_size", "bert-0,10,bert,6,384");
        return Workloads.load(file.toString(), scene).tasks().get(0).truth();
    }

    @Test
    void saysWhereABadValueStandsAndWhatWasExpected() throws IOException {
        Path file = workload("name,time,application,num_replicas,batch_size", "bert-0,soon,bert,6,384");

        assertThatThrownBy(() -> Workloads.load(file.toString(), scene))
                .hasMessage(file + ", line 2, column time: found 'soon', expected a number of at least 0");
    }

    @Test
    void namesTheApplicationsThatItKnows() throws IOException {
        Path file = workload("name,time,application,num_replicas,batch_size", "gpt-0,1,gpt,6,384");

        assertThatThrownBy(() -> Workloads.load(file.toString(), scene))
                .hasMessageContaining("line 2, column application: found 'gpt'")
                .hasMessageContaining("bert, cifar10, deepspeech2, imagenet, ncf, yolov3");
    }

    @Test
    void asksForProfilesWhereThereIsTraining() throws IOException {
        Path file = workload("name,time,application,num_replicas,batch_size", "bert-0,1,bert,6,384");
        Scene without = Scene.of(new DomainId("test"), 1, 8, 8);

        assertThatThrownBy(() -> Workloads.load(file.toString(), without)).hasMessageContaining("--profiles");
    }

    @Test
    void rejectsWhatIsNeitherFileNorPreset() {
        assertThatThrownBy(() -> Workloads.load("nowhere.csv", scene))
                .hasMessageContaining("there is no workload 'nowhere.csv'")
                .hasMessageContaining("[day, smooth, web, switching, week, hetero, teams, llm]");
    }

    @Test
    void rejectsAFileOfAnUnknownFormat() throws IOException {
        Path file = workload("a,b,c", "1,2,3");

        assertThatThrownBy(() -> Workloads.load(file.toString(), scene))
                .hasMessageContaining("the header 'a,b,c' is of no format known here");
    }

    @Test
    void mergesWorkloadsAndKeepsTheirNamesApart() throws IOException {
        Path file = workload("name,time,application,num_replicas,batch_size", "bert-0,30,bert,6,384");

        Workload twice = Workloads.load(file + "," + file, scene);

        assertThat(twice.name()).isEqualTo("work,work");
        assertThat(twice.tasks()).extracting(task -> task.job().job().value()).containsExactly("bert-0", "bert-0-2");
    }

    @Test
    void makesServicesOfRequestRateSeries() throws IOException {
        Files.writeString(folder.resolve("rates.csv"), "epoch_s,value\n600,120\n660,\n720,60\n");
        Path services = Files.writeString(folder.resolve("services.csv"), """
                service,series,secondsPerRequest,replicaCapacityPerSecond,sloMs,warmUpSeconds,scale
                web,rates.csv,0.05,20,500,8,0.5
                """);

        Workload read = Workloads.load(services.toString(), scene);

        Demand.Rates rates = (Demand.Rates) read.loads().get(0).demand();
        assertThat(rates.step()).isEqualTo(Duration.ofMinutes(1));
        assertThat(rates.perSecond()).containsExactly(60.0, 60.0, 30.0);
        assertThat(rates.at(Workload.EPOCH.plusSeconds(125))).isEqualTo(30);
        assertThat(rates.at(Workload.EPOCH.plusSeconds(185))).isEqualTo(60);
        assertThat(read.loads().get(0).service().slo()).isEqualTo(Duration.ofMillis(500));
    }

    @Test
    void aServiceMayNameItsKindsOfGpu() throws IOException {
        Files.writeString(folder.resolve("rates.csv"), "epoch_s,value\n600,120\n660,60\n");
        Path services = Files.writeString(folder.resolve("services.csv"), """
                service,series,secondsPerRequest,replicaCapacityPerSecond,sloMs,warmUpSeconds,scale,kindCapacities,kindWarmUps
                web,rates.csv,0.05,20,500,8,0.5,T4:5;A100:20,T4:30
                zoo,rates.csv,0.05,20,500,8,0.5,,
                """);

        List<ServiceLoad> loads = Workloads.load(services.toString(), scene).loads();

        assertThat(loads.get(0).service().capacities())
                .containsExactly(
                        KindCapacity.of(SimulatedGpu.T4.kind(), 5).warmingUpIn(Duration.ofSeconds(30)),
                        KindCapacity.of(SimulatedGpu.A100.kind(), 20));
        assertThat(loads.get(1).service().takesKindsAsAlike()).isTrue();
    }

    @Test
    void aServiceMayHaveReplicasOfSeveralGpus() throws IOException {
        Files.writeString(folder.resolve("rates.csv"), "epoch_s,value\n600,120\n660,60\n");
        Path services = Files.writeString(folder.resolve("services.csv"), """
                service,series,secondsPerRequest,replicaCapacityPerSecond,sloMs,warmUpSeconds,scale,replicaShapes
                llm,rates.csv,0.05,20,500,8,0.5,tp4:4x1:20:90;wide:8x2:60:300
                web,rates.csv,0.05,20,500,8,0.5,
                """);
        Path other = Files.writeString(folder.resolve("other.csv"), """
                service,series,secondsPerRequest,replicaCapacityPerSecond,sloMs,warmUpSeconds,scale,replicaShapes
                llm,rates.csv,0.05,20,500,8,0.5,tp4:4:20:90
                """);

        List<ServiceLoad> loads = Workloads.load(services.toString(), scene).loads();

        assertThat(loads.get(0).service().hardware().shapes())
                .containsExactly(
                        ReplicaShape.of("tp4", 4, 1, 20, Duration.ofSeconds(90)),
                        ReplicaShape.of("wide", 8, 2, 60, Duration.ofSeconds(300)));
        assertThat(loads.get(1).service().hasGroups()).isFalse();
        assertThatThrownBy(() -> Workloads.load(other.toString(), scene))
                .hasMessageContaining("column replicaShapes: found 'tp4:4:20:90', expected NAME:GPUSxNODES");
    }

    @Test
    void shapesOfReplicasMayStartFasterFromCacheAndFromSleep() throws IOException {
        Files.writeString(folder.resolve("rates.csv"), "epoch_s,value\n600,120\n660,60\n");
        Path services = Files.writeString(folder.resolve("services.csv"), """
                service,series,secondsPerRequest,replicaCapacityPerSecond,sloMs,warmUpSeconds,scale,replicaShapes
                llm,rates.csv,0.05,20,500,8,0.5,a:4x1:20:90/40/7;b:2x1:10:60//3:all;c:2x1:9:60/20
                """);
        Path other = Files.writeString(folder.resolve("other.csv"), """
                service,series,secondsPerRequest,replicaCapacityPerSecond,sloMs,warmUpSeconds,scale,replicaShapes
                llm,rates.csv,0.05,20,500,8,0.5,a:4x1:20:90/40/7/1
                """);

        assertThat(Workloads.load(services.toString(), scene)
                        .loads()
                        .get(0)
                        .service()
                        .hardware()
                        .shapes())
                .extracting(ReplicaShape::starts)
                .containsExactly(
                        new StartTimes(
                                Duration.ofSeconds(90),
                                Optional.of(Duration.ofSeconds(40)),
                                Optional.of(Duration.ofSeconds(7))),
                        new StartTimes(Duration.ofSeconds(60), Optional.empty(), Optional.of(Duration.ofSeconds(3))),
                        new StartTimes(Duration.ofSeconds(60), Optional.of(Duration.ofSeconds(20)), Optional.empty()));
        assertThatThrownBy(() -> Workloads.load(other.toString(), scene))
                .hasMessageContaining("seconds from cache and from sleep may follow, such as 90/40/7");
    }

    @Test
    void aServiceHasAllRolesOrNone() throws IOException {
        Files.writeString(folder.resolve("rates.csv"), "epoch_s,value\n600,120\n660,60\n");
        Path services = folder.resolve("services.csv");
        String header =
                "service,series,secondsPerRequest,replicaCapacityPerSecond,sloMs,warmUpSeconds,scale,replicaShapes\n";

        Files.writeString(services, header + "llm,rates.csv,0.05,20,500,8,0.5,in:1x1:38:30:prefill\n");
        assertThatThrownBy(() -> Workloads.load(services.toString(), scene))
                .hasMessageContaining(
                        "line 2, column replicaShapes: found 'in:1x1:38:30:prefill', expected a shape of role decode too");
        Files.writeString(services, header + "llm,rates.csv,0.05,20,500,8,0.5,a:1x1:38:30;out:1x1:38:30:decode\n");
        assertThatThrownBy(() -> Workloads.load(services.toString(), scene))
                .hasMessageContaining("expected no shapes of role all beside shapes of other roles");
    }

    @Test
    void shapesOfReplicasMayHaveRoles() throws IOException {
        Files.writeString(folder.resolve("rates.csv"), "epoch_s,value\n600,120\n660,60\n");
        Path services = Files.writeString(folder.resolve("services.csv"), """
                service,series,secondsPerRequest,replicaCapacityPerSecond,sloMs,warmUpSeconds,scale,replicaShapes
                llm,rates.csv,0.05,20,500,8,0.5,in:1x1:38:30:prefill;out:2x1:27:30:decode
                """);
        Path other = Files.writeString(folder.resolve("other.csv"), """
                service,series,secondsPerRequest,replicaCapacityPerSecond,sloMs,warmUpSeconds,scale,replicaShapes
                llm,rates.csv,0.05,20,500,8,0.5,in:1x1:38:30:first
                """);

        assertThat(Workloads.load(services.toString(), scene)
                        .loads()
                        .get(0)
                        .service()
                        .hardware()
                        .shapes())
                .containsExactly(
                        ReplicaShape.of("in", 1, 1, 38, Duration.ofSeconds(30)).as(ReplicaRole.PREFILL),
                        ReplicaShape.of("out", 2, 1, 27, Duration.ofSeconds(30)).as(ReplicaRole.DECODE));
        assertThatThrownBy(() -> Workloads.load(other.toString(), scene))
                .hasMessageContaining("a role may follow: all, prefill or decode");
    }

    @Test
    void aBadKindOfAServiceIsNamed() throws IOException {
        Files.writeString(folder.resolve("rates.csv"), "epoch_s,value\n600,120\n660,60\n");
        Path services = Files.writeString(folder.resolve("services.csv"), """
                service,series,secondsPerRequest,replicaCapacityPerSecond,sloMs,warmUpSeconds,scale,kindCapacities,kindWarmUps
                web,rates.csv,0.05,20,500,8,0.5,T4:0,
                """);
        Path other = Files.writeString(folder.resolve("other.csv"), """
                service,series,secondsPerRequest,replicaCapacityPerSecond,sloMs,warmUpSeconds,scale,kindCapacities,kindWarmUps
                web,rates.csv,0.05,20,500,8,0.5,T4:1,A100:5
                """);

        assertThatThrownBy(() -> Workloads.load(services.toString(), scene))
                .hasMessageContaining("column kindCapacities: found 'T4:0', expected KIND:NUMBER between semicolons");
        assertThatThrownBy(() -> Workloads.load(other.toString(), scene))
                .hasMessageContaining(
                        "column kindWarmUps: found 'A100:5', expected kinds that kindCapacities names too");
    }
}
