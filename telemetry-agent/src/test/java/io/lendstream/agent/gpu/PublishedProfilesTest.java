package io.lendstream.agent.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.core.event.InstanceProfile;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Profiles of every GPU in a published table, through the driver's calls and back. */
class PublishedProfilesTest {
    private static final Path PROFILES = Path.of(System.getenv().getOrDefault("LENDSTREAM_DATA", "../../shared/data"))
            .resolve("mig/mig_profiles.json");

    @TempDir
    Path directory;

    @Test
    void eachGpusTableComesBackAsItWas() throws IOException {
        assumeTrue(Files.exists(PROFILES), () -> "needs %s (LENDSTREAM_DATA)".formatted(PROFILES));
        Map<String, MigGpu> kinds = published();
        Map<String, List<InstanceProfile>> told = new TreeMap<>();
        for (Map.Entry<String, MigGpu> kind : kinds.entrySet()) {
            told.put(kind.getKey(), told(kind.getKey(), kind.getValue()));
        }

        assertThat(kinds).hasSizeGreaterThanOrEqualTo(8);
        assertThat(told)
                .allSatisfy((name, profiles) -> assertThat(profiles)
                        .containsExactlyInAnyOrderElementsOf(kinds.get(name).profiles().stream()
                                .map(PublishedProfilesTest::expected)
                                .toList()));
    }

    private List<InstanceProfile> told(String name, MigGpu kind) throws IOException {
        Path own = Files.createDirectory(directory.resolve(name));
        NvmlDouble nvml = NvmlDouble.in(own)
                .plays(Machine.withDriver("580.1").gpu("GPU-0", name, 8, 80).inMigMode(kind));
        try (GpuProbe probe = GpuProbes.nvml(nvml.libraries(), Duration.ofSeconds(10), false)) {
            GpuSnapshot sight = probe.look(Instant.EPOCH.plusSeconds(100));
            assertThat(sight.why()).isEmpty();
            return sight.gpus().get(0).migProfiles();
        }
    }

    private static InstanceProfile expected(MigProfile profile) {
        return new InstanceProfile(
                profile.name(),
                profile.id(),
                profile.computeSlices(),
                profile.memorySlices(),
                Math.round(profile.memoryGib().orElse(0) * 1024) << 20,
                profile.sms().orElse(0),
                profile.starts(),
                profile.most());
    }

    private static Map<String, MigGpu> published() throws IOException {
        Map<String, MigGpu> kinds = new TreeMap<>();
        new ObjectMapper().readTree(PROFILES.toFile()).properties().forEach(entry -> {
            JsonNode gpu = entry.getValue();
            List<MigProfile> profiles = new ArrayList<>();
            gpu.get("profiles").forEach(row -> profiles.add(profile(row, profiles.size())));
            kinds.put(
                    entry.getKey(),
                    new MigGpu(
                            entry.getKey(),
                            gpu.get("compute").asInt(),
                            gpu.get("memory").asInt(),
                            0,
                            profiles));
        });
        return kinds;
    }

    /** What the table does not know has a number of its own, or none. */
    private static MigProfile profile(JsonNode row, int number) {
        return new MigProfile(
                row.get("profile").asText(),
                row.path("gi_profile_id").asInt(100 + number),
                row.get("compute_slices").asInt(),
                row.get("memory_slices").asInt(),
                row.path("memory_gib").isNumber()
                        ? OptionalDouble.of(row.get("memory_gib").asDouble())
                        : OptionalDouble.empty(),
                row.path("sm").isNumber() ? OptionalInt.of(row.get("sm").asInt()) : OptionalInt.empty(),
                StreamSupport.stream(row.get("starts").spliterator(), false)
                        .map(JsonNode::asInt)
                        .toList(),
                row.get("max_instances").asInt());
    }
}
