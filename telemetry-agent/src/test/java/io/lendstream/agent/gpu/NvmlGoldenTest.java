package io.lendstream.agent.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Supplier;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The published records of each scripted machine, word for word; {@code -Dgolden.update=true} rewrites them. */
class NvmlGoldenTest {
    private static final boolean UPDATE = Boolean.getBoolean("golden.update");
    private static final Path GOLDEN = Path.of("src/test/resources/nvml");
    /** Events are asked for all the time, and heard within some 50 ms. */
    private static final Duration HEARD = Duration.ofSeconds(1);

    private static final Instant NOON = Instant.parse("2026-06-01T12:00:00Z");

    enum Case {
        A100_MIG_OFF(Machines::a100MigOff),
        A100_MIG_ON(Machines::a100MigOn),
        H100_MIG_OFF(Machines::h100MigOff),
        H100_MIG_ON(Machines::h100MigOn),
        H200_MIG_ON(Machines::h200MigOn),
        NO_PERMISSION(Machines::noPermission),
        MIG_PENDING(Machines::migPending),
        ONE_LOST(Machines::oneLost),
        XID_79(Machines::a100MigOff, Machines::fallenOff),
        IN_USE(Machines::a100MigOn, Machines::inUse),
        IN_USE_FROM_THE_START(() -> Machine.thatCannotBeInitialised(19)),
        NO_GPU(() -> Machine.withDriver("550.54.15")),
        DRIVER_NOT_LOADED(() -> Machine.thatCannotBeInitialised(9)),
        DRIVER_WAS_UPDATED(() -> Machine.thatCannotBeInitialised(18));

        @SuppressWarnings("ImmutableEnumChecker") // a reference to a method without state
        private final Supplier<Machine> machine;

        @SuppressWarnings("ImmutableEnumChecker") // the same
        private final Supplier<Machine> later;

        Case(Supplier<Machine> machine) {
            this(machine, machine);
        }

        /** One that has become another by the second look. */
        Case(Supplier<Machine> machine, Supplier<Machine> later) {
            this.machine = machine;
            this.later = later;
        }
    }

    @TempDir
    Path directory;

    @ParameterizedTest
    @EnumSource
    void isToldAsItIs(Case each) throws Exception {
        NvmlDouble nvml = NvmlDouble.in(directory).plays(each.machine.get());
        String told;
        try (GpuProbe probe = GpuProbes.nvml(nvml.libraries(), Duration.ofSeconds(10), true)) {
            told = "first look\n" + told(probe.look(NOON), NOON);
            if (each.later != each.machine) {
                nvml.plays(each.later.get());
                Thread.sleep(HEARD.toMillis());
            }
            told += "second look, 10 s later\n"
                    + told(probe.look(NOON.plusSeconds(10)), NOON.plusSeconds(10))
                            .replaceAll("\"lastXidAt\": \\d+", "\"lastXidAt\": \"when it was received\"");
        }
        Path golden =
                GOLDEN.resolve(each.name().toLowerCase(java.util.Locale.ROOT).replace('_', '-') + ".txt");
        if (UPDATE) {
            Files.createDirectories(GOLDEN);
            Files.writeString(golden, told);
        }

        assertThat(golden).exists();
        assertThat(told)
                .as("the records of %s; after an intended change, rewrite them with -Dgolden.update=true", each)
                .isEqualTo(Files.readString(golden));
        assertThat(nvml.open()).isEqualTo("inits 0 sets 0 samples 0");
    }

    /** The records that an agent would publish, and what it would say; paths of this machine are left out. */
    private static String told(GpuSnapshot sight, Instant at) {
        NodeId name = new NodeId("node-1");
        DomainId domain = new DomainId("east");
        var told = new StringBuilder();
        Node node = new Node(
                name,
                domain,
                Pool.INFERENCE,
                "boot",
                at,
                sight.status(),
                sight.gpus(),
                sight.driverVersion(),
                1,
                sight.why());
        told.append(Codecs.encode(TopicCatalogue.NODES, node)).append('\n');
        sight.samples()
                .forEach(sample -> told.append(Codecs.encode(
                                TopicCatalogue.GPU_TELEMETRY,
                                new GpuTelemetry(name, domain, "boot", 1, at, java.util.List.of(sample))))
                        .append('\n'));
        sight.processes().forEach(process -> told.append(process).append('\n'));
        return told.toString();
    }
}
