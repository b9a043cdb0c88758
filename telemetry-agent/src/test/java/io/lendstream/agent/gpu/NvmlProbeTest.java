package io.lendstream.agent.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Quality;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the probe behaves where NVML, or the machine, is awkward. */
class NvmlProbeTest {
    private static final String NOTHING_OPEN = "inits 0 sets 0 samples 0";

    @TempDir
    Path directory;

    private Instant now = Instant.parse("2026-06-01T12:00:00Z");
    private Optional<GpuProbe> opened = Optional.empty();

    @AfterEach
    void close() {
        opened.ifPresent(GpuProbe::close);
    }

    private GpuProbe probe(NvmlDouble nvml) {
        return probe(nvml, Duration.ofSeconds(10));
    }

    private GpuProbe probe(NvmlDouble nvml, Duration patience) {
        opened = Optional.of(GpuProbes.nvml(nvml.libraries(), patience, true));
        return opened.get();
    }

    private GpuSnapshot lookAfter(GpuProbe probe, Duration pause) {
        now = now.plus(pause);
        return probe.look(now);
    }

    private GpuSnapshot look(GpuProbe probe) {
        return lookAfter(probe, Duration.ofSeconds(10));
    }

    private static GpuSample sample(GpuSnapshot sight, String gpu) {
        return sight.samples().stream()
                .filter(each -> each.gpuId().value().equals(gpu))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no sample of " + gpu + " in " + sight));
    }

    private static List<String> instances(GpuSnapshot sight) {
        return sight.gpus().stream()
                .flatMap(gpu -> gpu.instances().stream())
                .map(instance -> instance.gpuId().value())
                .toList();
    }

    @Test
    void aMachineWithoutNvmlIsUnavailableAndSaysWhatIsMissing() {
        try (GpuProbe probe = GpuProbes.nvml(List.of(directory.toString()), Duration.ofSeconds(10), true)) {
            GpuSnapshot sight = probe.look(now);

            assertThat(sight.status()).isEqualTo(NodeStatus.UNAVAILABLE);
            assertThat(sight.why())
                    .contains("NVML cannot be loaded", "libnvidia-ml.so.1", "Install NVIDIA's driver")
                    .as("the loader's reason")
                    .contains("cannot open shared object file");
            assertThat(sight.gpus()).isEmpty();
            assertThat(sight.samples()).isEmpty();
        }
    }

    @Test
    void itTriesAgainEverMoreSeldomAndFindsTheDriverThatAppearsLater() {
        NvmlDouble nvml = NvmlDouble.in(directory);
        GpuProbe probe = probe(nvml);
        assertThat(probe.look(now).why()).contains("driver not loaded (9)", "after 1 s");
        assertThat(lookAfter(probe, Duration.ofSeconds(1)).why()).contains("after 2 s");

        nvml.plays(Machines.a100MigOff());

        assertThat(lookAfter(probe, Duration.ofSeconds(1)).status()).isEqualTo(NodeStatus.UNAVAILABLE);
        assertThat(lookAfter(probe, Duration.ofSeconds(1)).status()).isEqualTo(NodeStatus.READY);
    }

    @Test
    void aDriverThatIsUnloadedUnderItLeavesTheInventoryLastSeenUntilItIsBack() {
        NvmlDouble nvml = NvmlDouble.in(directory).plays(Machines.a100MigOff());
        GpuProbe probe = probe(nvml);
        List<Gpu> before = look(probe).gpus();

        nvml.unloadDriver();
        GpuSnapshot without = look(probe);
        String open = nvml.open();
        nvml.plays(Machines.a100MigOff());

        assertThat(without.status()).isEqualTo(NodeStatus.UNAVAILABLE);
        assertThat(without.why()).contains("driver not loaded (9)");
        assertThat(without.gpus()).isEqualTo(before).hasSize(2);
        assertThat(without.samples()).isEmpty();
        assertThat(open).isEqualTo(NOTHING_OPEN);
        assertThat(look(probe).status()).isEqualTo(NodeStatus.READY);
    }

    @Test
    void nvmlIsInitialisedOnceAndNotAtEachLook() {
        NvmlDouble nvml = NvmlDouble.in(directory).plays(Machines.h100MigOff());
        GpuProbe probe = probe(nvml);

        for (int i = 0; i < 5; i++) {
            look(probe);
        }

        assertThat(nvml.open()).isEqualTo("inits 1 sets 1 samples 2");
    }

    @Test
    void utilisationUnderMigIsUnknownAndNeverZero() {
        GpuProbe probe = probe(NvmlDouble.in(directory).plays(Machines.a100MigOn()));

        GpuSnapshot sight = look(probe);

        assertThat(sight.samples()).hasSize(1 + 3).allSatisfy(sample -> {
            assertThat(sample.activity().utilization()).isEmpty();
            assertThat(sample.activity().smActivity()).isEmpty();
            assertThat(sample.activity().utilizationQuality()).isEqualTo(Quality.UNSUPPORTED);
            assertThat(sample.memory().memoryUsedBytes()).isPresent();
        });
    }

    @Test
    void activityByGpmNeedsTwoSamplesSoTheFirstLookOnlySeeds() {
        GpuProbe probe = probe(NvmlDouble.in(directory).plays(Machines.h100MigOn()));

        GpuSample first = sample(look(probe), "GPU-h0/4:4");
        GpuSample second = sample(look(probe), "GPU-h0/4:4");

        assertThat(first.activity().utilizationQuality()).isEqualTo(Quality.UNKNOWN);
        assertThat(first.activity().utilization()).isEmpty();
        assertThat(second.activity().utilizationQuality()).isEqualTo(Quality.MEASURED);
        assertThat(second.activity().utilization()).contains(0.55);
        assertThat(second.activity().smActivity()).contains(0.4);
        assertThat(second.activity().tensorActivity()).contains(0.2);
        assertThat(second.activity().dramActivity()).contains(0.3);
        assertThat(second.links().pcieTxBytesPerSecond()).contains(100.0 * (1 << 20));
        assertThat(second.links().nvlinkTxBytesPerSecond()).isEmpty();
    }

    @Test
    void activityOverTooLongOrBackwardTimeIsLeftOut() {
        GpuProbe probe = probe(NvmlDouble.in(directory).plays(Machines.h100MigOn()));
        look(probe);

        GpuSnapshot tooLong = lookAfter(probe, Duration.ofMinutes(6));
        GpuSnapshot good = look(probe);
        GpuSnapshot again = lookAfter(probe, Duration.ofMillis(20));
        GpuSnapshot backward = lookAfter(probe, Duration.ofSeconds(-30));

        assertThat(sample(tooLong, "GPU-h0/4:4").activity().utilization()).isEmpty();
        assertThat(sample(good, "GPU-h0/4:4").activity().utilization()).contains(0.55);
        assertThat(sample(again, "GPU-h0/4:4").activity().utilization()).contains(0.55);
        assertThat(sample(backward, "GPU-h0/4:4").activity().utilization()).isEmpty();
        assertThat(sample(look(probe), "GPU-h0/4:4").activity().utilization()).contains(0.55);
    }

    @Test
    void anInstanceRecreatedUnderTheSameNumberIsSeededAgain() {
        NvmlDouble nvml = NvmlDouble.in(directory).plays(Machines.h100MigOn());
        GpuProbe probe = probe(nvml);
        look(probe);
        look(probe);

        nvml.plays(Machines.h100MigOn("MIG-h0-another", "70 60 50 40"));
        GpuSnapshot changing = look(probe);
        GpuSnapshot believed = look(probe);
        GpuSnapshot later = look(probe);

        assertThat(changing.samples()).noneMatch(each -> each.gpuId().value().equals("GPU-h0/4:4"));
        assertThat(sample(changing, "GPU-h0/0:4").activity().utilization()).contains(0.05);
        assertThat(sample(believed, "GPU-h0/4:4").activity().utilization()).isEmpty();
        assertThat(sample(later, "GPU-h0/4:4").activity().utilization()).contains(0.7);
        assertThat(nvml.open()).isEqualTo("inits 1 sets 1 samples 4");
    }

    @Test
    void aNewLayoutIsReportedOnceItHasNotChangedForTwoSeconds() {
        NvmlDouble nvml = NvmlDouble.in(directory).plays(Machines.a100MigOn());
        GpuProbe probe = probe(nvml);
        List<String> before = instances(look(probe));
        Machine halves = Machine.withDriver("550.54.15")
                .gpu("GPU-a0", "NVIDIA A100-SXM4-80GB", 8, 80)
                .inMigMode(Machines.A100)
                .instance(Machines.A100, 1, "3g.40gb", 0, "MIG-left", "");

        nvml.plays(halves);
        GpuSnapshot first = look(probe);
        nvml.plays(halves.instance(Machines.A100, 2, "3g.40gb", 4, "MIG-right", ""));
        GpuSnapshot second = lookAfter(probe, Duration.ofSeconds(3));
        GpuSnapshot third = lookAfter(probe, Duration.ofSeconds(1));
        GpuSnapshot fourth = lookAfter(probe, Duration.ofSeconds(1));

        assertThat(first.why()).contains("GPU 0 is being repartitioned");
        assertThat(first.again()).contains(Duration.ofSeconds(1));
        assertThat(List.of(instances(first), instances(second), instances(third)))
                .containsOnly(before);
        assertThat(second.samples()).extracting(each -> each.gpuId().value()).containsExactly("GPU-a0");
        assertThat(instances(fourth)).containsExactly("GPU-a0/0:4", "GPU-a0/4:4");
        assertThat(fourth.why()).isEmpty();
        assertThat(fourth.again()).isEmpty();
    }

    @Test
    void looksThatFollowCloselyGoByTheCutThatWasSeenLast() {
        NvmlDouble nvml = NvmlDouble.in(directory).plays(Machines.a100MigOn());
        GpuProbe probe = probe(nvml);
        look(probe);
        List<String> before = instances(look(probe));

        nvml.plays(Machine.withDriver("550.54.15")
                .gpu("GPU-a0", "NVIDIA A100-SXM4-80GB", 8, 80)
                .inMigMode(Machines.A100)
                .instance(Machines.A100, 1, "3g.40gb", 0, "MIG-left", ""));
        GpuSnapshot close = lookAfter(probe, Duration.ofMillis(100));
        GpuSnapshot aSecondLater = lookAfter(probe, Duration.ofMillis(900));

        assertThat(instances(close)).isEqualTo(before);
        assertThat(close.again()).isEmpty();
        assertThat(aSecondLater.why()).contains("GPU 0 is being repartitioned");
        assertThat(aSecondLater.again()).contains(Duration.ofSeconds(1));
    }

    @Test
    void whilePausedNothingOfNvmlIsOpenAndTheNodeIsNotTakenForDead() {
        NvmlDouble nvml = NvmlDouble.in(directory).plays(Machines.h100MigOff());
        GpuProbe probe = probe(nvml);
        List<Gpu> before = look(probe).gpus();
        look(probe);

        probe.pause("nvidia.com/mig.config.state=pending");
        String open = nvml.open();
        GpuSnapshot paused = look(probe);
        nvml.plays(Machines.h100MigOn());
        probe.resume();
        GpuSnapshot settling = look(probe);
        GpuSnapshot after = lookAfter(probe, Duration.ofSeconds(2));

        assertThat(open).isEqualTo(NOTHING_OPEN);
        assertThat(paused.status()).isEqualTo(NodeStatus.PAUSED);
        assertThat(paused.why()).isEqualTo("paused: nvidia.com/mig.config.state=pending");
        assertThat(paused.gpus()).isEqualTo(before);
        assertThat(settling.status()).isEqualTo(NodeStatus.PAUSED);
        assertThat(settling.again()).contains(Duration.ofSeconds(2));
        assertThat(after.status()).isEqualTo(NodeStatus.READY);
        assertThat(instances(after)).containsExactly("GPU-h0/0:4", "GPU-h0/4:4");
    }

    @Test
    void closingGivesEverythingBackAndLookingAfterwardsSaysSo() {
        NvmlDouble nvml = NvmlDouble.in(directory).plays(Machines.h100MigOff());
        GpuProbe probe = probe(nvml);
        look(probe);

        probe.close();

        assertThat(nvml.open()).isEqualTo(NOTHING_OPEN);
        assertThat(look(probe).why()).isEqualTo("the probe was closed");
    }

    @Test
    void aGpuThatFallsOffTheBusIsLeftOutWithItsXidAndTheOthersGoOn() {
        NvmlDouble nvml = NvmlDouble.in(directory).plays(Machines.a100MigOff());
        GpuProbe probe = probe(nvml);
        look(probe);

        nvml.plays(Machines.oneLost().xid(0, 79));
        awaitXid(probe, "GPU-a0", 79);
        GpuSnapshot sight = lookAfter(probe, Duration.ofSeconds(1));

        assertThat(sight.status()).isEqualTo(NodeStatus.READY);
        assertThat(sight.why()).contains("GPU 0 (GPU-a0) does not answer: gpu is lost (15)");
        assertThat(sight.gpus()).extracting(gpu -> gpu.gpuId().value()).containsExactly("GPU-a1");
        assertThat(sample(sight, "GPU-a0").errors().lastXid()).contains(79);
        assertThat(sample(sight, "GPU-a0").activity().utilization()).isEmpty();
        assertThat(sample(sight, "GPU-a1").activity().utilization()).contains(0.12);
    }

    @Test
    void aLostGpuThatWasResetIsFoundAgainWithinAMinute() {
        NvmlDouble nvml = NvmlDouble.in(directory).plays(Machines.oneLost());
        GpuProbe probe = probe(nvml);
        look(probe);

        nvml.plays(Machines.a100MigOff());
        GpuSnapshot soon = look(probe);
        GpuSnapshot later = lookAfter(probe, Duration.ofSeconds(50));

        assertThat(soon.gpus()).hasSize(1);
        assertThat(later.gpus()).hasSize(2);
        assertThat(later.why()).isEmpty();
    }

    @Test
    void aMachineAllOfWhoseGpusAreLostIsUnavailable() {
        NvmlDouble nvml = NvmlDouble.in(directory)
                .plays(Machine.withDriver("1")
                        .gpu("GPU-a0", "NVIDIA A100", 8, 80)
                        .has("lost"));

        GpuSnapshot sight = look(probe(nvml));

        assertThat(sight.status()).isEqualTo(NodeStatus.UNAVAILABLE);
        assertThat(sight.why()).contains("GPU 0 does not answer");
    }

    @Test
    void xidErrorsAreCountedForFiveMinutesAndTheLastIsKept() {
        NvmlDouble nvml = NvmlDouble.in(directory).plays(Machines.a100MigOff());
        GpuProbe probe = probe(nvml);
        assertThat(sample(look(probe), "GPU-a0").errors().xidsInFiveMinutes()).contains(0);

        nvml.plays(Machines.a100MigOff().xid(0, 31).xid(0, 43));
        awaitXid(probe, "GPU-a0", 43);
        GpuSnapshot soon = lookAfter(probe, Duration.ofMinutes(4));
        GpuSnapshot late = lookAfter(probe, Duration.ofMinutes(2));

        assertThat(sample(soon, "GPU-a0").errors().xidsInFiveMinutes()).contains(2);
        assertThat(sample(soon, "GPU-a0").errors().lastXidAt())
                .hasValueSatisfying(at -> assertThat(at).isBetween(now.minus(Duration.ofMinutes(7)), now));
        assertThat(sample(soon, "GPU-a1").errors().lastXid()).isEmpty();
        assertThat(sample(late, "GPU-a0").errors().xidsInFiveMinutes()).contains(0);
        assertThat(sample(late, "GPU-a0").errors().lastXid()).contains(43);
    }

    @Test
    void anXidOfOneInstanceIsNotItsNeighboursButOneOfTheGpuIsAllOfTheirs() {
        NvmlDouble nvml = NvmlDouble.in(directory).plays(Machines.h100MigOn());
        GpuProbe probe = probe(nvml);
        look(probe);

        nvml.plays(Machines.h100MigOn().xidOfInstance(0, 31, 2));
        awaitXid(probe, "GPU-h0/4:4", 31);
        GpuSnapshot ofOne = lookAfter(probe, Duration.ofSeconds(1));
        nvml.plays(Machines.h100MigOn().xidOfInstance(0, 31, 2).xid(0, 79));
        awaitXid(probe, "GPU-h0/4:4", 79);
        GpuSnapshot ofAll = lookAfter(probe, Duration.ofSeconds(1));

        assertThat(sample(ofOne, "GPU-h0/0:4").errors().lastXid()).isEmpty();
        assertThat(sample(ofOne, "GPU-h0").errors().lastXid()).contains(31);
        assertThat(sample(ofAll, "GPU-h0/0:4").errors().lastXid()).contains(79);
        assertThat(sample(ofAll, "GPU-h0/4:4").errors().xidsInFiveMinutes()).contains(2);
    }

    @Test
    void aRecreatedInstanceHasNotItsPredecessorsErrors() {
        NvmlDouble nvml = NvmlDouble.in(directory).plays(Machines.h100MigOn());
        GpuProbe probe = probe(nvml);
        look(probe);
        nvml.plays(Machines.h100MigOn().xidOfInstance(0, 31, 2));
        awaitXid(probe, "GPU-h0/4:4", 31);

        nvml.plays(Machines.h100MigOn("MIG-h0-another", ""));
        look(probe);
        GpuSnapshot believed = look(probe);

        assertThat(sample(believed, "GPU-h0/4:4").errors().lastXid()).isEmpty();
    }

    private void awaitXid(GpuProbe probe, String gpu, int xid) {
        await().atMost(Duration.ofSeconds(10))
                .until(() -> sample(lookAfter(probe, Duration.ofMillis(1)), gpu)
                        .errors()
                        .lastXid()
                        .equals(Optional.of(xid)));
    }

    @Test
    void withoutPermissionWhatIsForbiddenIsAbsentAndSaid() {
        GpuProbe probe = probe(NvmlDouble.in(directory).plays(Machines.noPermission()));

        GpuSnapshot sight = look(probe);

        assertThat(sight.status()).isEqualTo(NodeStatus.READY);
        assertThat(sight.why())
                .contains("does not report the positions of 3 of its 3 MIG instances")
                .contains("forbids this user")
                .contains("nvmlDeviceGetComputeRunningProcesses_v3");
        assertThat(instances(sight)).isEmpty();
        assertThat(sight.gpus()).allMatch(Gpu::migEnabled);
        assertThat(sight.processes()).isEmpty();
        assertThat(look(probe).why()).isEqualTo(sight.why());
    }

    @Test
    void aDriverTooOldForTheNewerCallsIsAskedByTheOlderOnes() {
        GpuProbe probe = probe(NvmlDouble.oldIn(directory).plays(Machines.a100MigOn()));

        look(probe);
        GpuSnapshot sight = look(probe);

        assertThat(sight.status()).isEqualTo(NodeStatus.READY);
        assertThat(sight.gpus().get(0).instances())
                .extracting(GpuInstance::profile)
                .containsExactly("4g.40gb", "2g.20gb", "1g.10gb");
        assertThat(sight.gpus().get(0).migProfiles()).isEmpty();
        assertThat(sample(sight, "GPU-a0").memory().memoryUsedBytes()).contains((2048L + 600) << 20);
        assertThat(sample(sight, "GPU-a0").clocks().throttleReasons()).containsExactly("sw-power-cap");
        assertThat(sight.processes()).extracting(GpuProcess::pid).containsExactly(4242L, 4243L);
    }

    @Test
    void aDriverThatHangsDoesNotHangTheAgent() {
        NvmlDouble nvml = NvmlDouble.in(directory).plays(Machines.a100MigOff().whereEachCallTakes(150));
        GpuProbe probe = probe(nvml, Duration.ofMillis(200));

        long began = System.nanoTime();
        GpuSnapshot hung = probe.look(now);
        Duration took = Duration.ofNanos(System.nanoTime() - began);
        nvml.plays(Machines.a100MigOff());

        assertThat(hung.status()).isEqualTo(NodeStatus.UNAVAILABLE);
        assertThat(hung.why()).isEqualTo("no answer within PT0.2S; still waiting");
        assertThat(took).isBetween(Duration.ofMillis(190), Duration.ofSeconds(2));
        await().atMost(Duration.ofSeconds(10)).until(() -> look(probe).status() == NodeStatus.READY);
    }

    @Test
    void gpusThatAreAddedOrRemovedAreSeenByANewSession() {
        NvmlDouble nvml = NvmlDouble.in(directory).plays(Machines.a100MigOff());
        GpuProbe probe = probe(nvml);
        look(probe);

        nvml.plays(Machines.migPending());
        GpuSnapshot noticed = look(probe);
        GpuSnapshot after = look(probe);

        assertThat(noticed.why()).contains("the number of GPUs changed from 2 to 1");
        assertThat(after.gpus()).hasSize(1).allMatch(Gpu::migPending);
    }

    @Test
    void anInstanceThatIsSharedByTwoComputeInstancesHasNoUuidOfItsOwn() {
        NvmlDouble nvml = NvmlDouble.in(directory)
                .plays(Machine.withDriver("1")
                        .gpu("GPU-a0", "NVIDIA A100-SXM4-80GB", 8, 80)
                        .inMigMode(Machines.A100)
                        .has("instance 1 0 9 0 4 MIG-one 20971520000 0")
                        .has("instance 1 1 9 0 4 MIG-two 20971520000 0"));

        GpuSnapshot sight = look(probe(nvml));

        assertThat(sight.gpus().get(0).instances()).singleElement().satisfies(instance -> {
            assertThat(instance.gpuId().value()).isEqualTo("GPU-a0/0:4");
            assertThat(instance.uuid()).isEmpty();
            assertThat(instance.computeInstanceId()).isEmpty();
            assertThat(instance.gpuInstanceId()).contains(1);
        });
    }

    @Test
    void trafficOfLinksIsARateBetweenTwoLooksUnlessTheCounterWentBack() {
        NvmlDouble nvml = NvmlDouble.in(directory).plays(linked(1_000, 2_000));
        GpuProbe probe = probe(nvml);

        GpuSnapshot first = look(probe);
        nvml.plays(linked(1_000 + 10 * 1024, 2_000 + 20 * 1024));
        GpuSnapshot second = look(probe);
        nvml.plays(linked(5, 5));
        GpuSnapshot third = look(probe);

        assertThat(sample(first, "GPU-a0").links().nvlinkTxBytesPerSecond()).isEmpty();
        assertThat(sample(second, "GPU-a0").links().nvlinkTxBytesPerSecond()).contains(1024.0 * 1024);
        assertThat(sample(second, "GPU-a0").links().nvlinkRxBytesPerSecond()).contains(2 * 1024.0 * 1024);
        assertThat(sample(third, "GPU-a0").links().nvlinkTxBytesPerSecond()).isEmpty();
    }

    @Test
    void energyIsReadAtMostEveryTenSecondsAndTheLastReadingRepeated() {
        NvmlDouble nvml = NvmlDouble.in(directory).plays(drawn(1_000));
        GpuProbe probe = probe(nvml);

        GpuSnapshot first = look(probe);
        nvml.plays(drawn(9_000));
        GpuSnapshot soon = lookAfter(probe, Duration.ofSeconds(9));
        GpuSnapshot later = lookAfter(probe, Duration.ofSeconds(1));

        assertThat(sample(first, "GPU-a0").power().energyJoules()).contains(1.0);
        assertThat(sample(soon, "GPU-a0").power().energyJoules()).contains(1.0);
        assertThat(sample(later, "GPU-a0").power().energyJoules()).contains(9.0);
    }

    private static Machine drawn(long millijoules) {
        return Machine.withDriver("550.54.15")
                .gpu("GPU-a0", "NVIDIA A100-SXM4-80GB", 8, 80)
                .has("energy " + millijoules);
    }

    private static Machine linked(long sentKib, long receivedKib) {
        return Machine.withDriver("550.54.15")
                .gpu("GPU-a0", "NVIDIA A100-SXM4-80GB", 8, 80)
                .has("nvlink %d %d".formatted(sentKib, receivedKib));
    }
}
