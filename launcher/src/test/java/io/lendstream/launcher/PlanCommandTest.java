package io.lendstream.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PlanCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path directory;

    @BeforeEach
    void writeFiles() throws IOException {
        StringBuilder profiles = new StringBuilder("model,profile,batch,inputSize,latencyMs\n");
        for (String profile : List.of("1g.10gb", "2g.20gb", "3g.40gb", "7g.80gb")) {
            int slices = profile.charAt(0) - '0';
            for (int batch = 1; batch <= 16 * slices; batch *= 2) {
                profiles.append("chat,%s,%d,,%.3f%n"
                        .formatted(profile, batch, Math.max(5, (2 + 3.0 * batch) / slices)));
            }
        }
        Files.writeString(directory.resolve("profiles.csv"), profiles);
        Files.writeString(
                directory.resolve("services.csv"),
                "service,model,ratePerSecond,sloMs\nassistant,chat,900,60\nsearch,chat,200,40\n");
    }

    private int run(String... more) {
        List<String> arguments = new ArrayList<>(List.of(
                "plan",
                "--profiles",
                directory.resolve("profiles.csv").toString(),
                "--services",
                directory.resolve("services.csv").toString(),
                "--requests",
                "20000",
                "--out",
                directory.resolve("out").toString()));
        arguments.addAll(List.of(more));
        return LendstreamMain.run(
                arguments.toArray(String[]::new), new PrintWriter(out, true), new PrintWriter(err, true));
    }

    @Test
    void aPlanIsPrintedAndWritten() throws IOException {
        int code = run("--gpu", "A100-80GB");

        assertThat(err.toString()).isEmpty();
        assertThat(code).isZero();
        assertThat(out.toString()).contains("assistant", "no plan needs fewer than", "without MIG", "played 5 times");
        JsonNode plan =
                new ObjectMapper().readTree(directory.resolve("out/plan.json").toFile());
        assertThat(plan.get("gpus").asInt())
                .isGreaterThanOrEqualTo(plan.get("lowerBoundGpus").asInt());
        assertThat(plan.get("lpBoundGpus").asDouble()).isPositive();
        assertThat(plan.get("migOffGpus").asInt()).isPositive();
        assertThat(plan.get("probesUsed").asInt()).isZero();
        assertThat(plan.get("services")).hasSize(2).allSatisfy(service -> {
            assertThat(service.get("capacity").asDouble())
                    .isGreaterThanOrEqualTo(service.get("rate").asDouble());
            assertThat(service.get("predictedP99Ms").asDouble())
                    .isLessThanOrEqualTo(service.get("sloMs").asDouble());
            assertThat(service.get("playedP99UpperMs").asDouble())
                    .isLessThanOrEqualTo(service.get("sloMs").asDouble());
        });
        assertThat(plan.get("instances")).isNotEmpty().allSatisfy(instance -> {
            assertThat(instance.get("model").asText()).isEqualTo("chat");
            assertThat(instance.get("maxBatch").asInt()).isPositive();
            assertThat(instance.get("maxQueueDelayMs").asDouble()).isZero();
            assertThat(instance.get("buckets")).hasSize(1);
        });
    }

    @Test
    void withProbesThePlannerSeesNoMoreThanThese() throws IOException {
        int code = run("--gpu", "A100-80GB", "--probes", "4", "--play", "0");

        assertThat(err.toString()).isEmpty();
        assertThat(code).isZero();
        JsonNode plan =
                new ObjectMapper().readTree(directory.resolve("out/plan.json").toFile());
        assertThat(plan.get("probesUsed").asInt()).isEqualTo(4);
        assertThat(plan.get("instances").get(0).has("playedP99Ms")).isFalse();
    }

    @Test
    void whatCannotBeIsSaidInOneLine() throws IOException {
        assertThat(run("--gpu", "A1000")).isEqualTo(2);
        assertThat(run("--gpu", "A100-80GB", "--margin", "5")).isEqualTo(2);
        assertThat(run("--gpu", "A100-40GB")).isEqualTo(2);
        Files.writeString(
                directory.resolve("services.csv"), "service,model,ratePerSecond,sloMs\nassistant,gpt,900,60\n");
        assertThat(run("--gpu", "A100-80GB")).isEqualTo(2);
        Files.writeString(
                directory.resolve("services.csv"), "service,model,ratePerSecond,sloMs\nassistant,chat,900,3\n");
        assertThat(run("--gpu", "A100-80GB")).isEqualTo(1);

        assertThat(err.toString().lines())
                .hasSize(5)
                .satisfiesExactly(
                        line -> assertThat(line).contains("--gpu is 'A1000'", "A100-80GB"),
                        line -> assertThat(line).contains("--margin is 5.0", "from 0 to 1"),
                        line -> assertThat(line).contains("profiles.csv, line 7, column profile", "2g.20gb", "2g.10gb"),
                        line -> assertThat(line).contains("the model 'gpt'", "has only chat"),
                        line -> assertThat(line).contains("service assistant cannot be served", "longer sloMs"));
    }
}
