package io.lendstream.actuator.jobs;

import static io.lendstream.actuator.jobs.ExampleJob.change;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobFileTest {
    private static final String BATCHING = "{\"localBatch\":8,\"accumulation\":1,\"learningRateScale\":1.0}";
    private static final String TRAINING = """
            {"job":"bert","program":{"mode":"AFE","command":["train"],"launcher":[],"environment":{"A":"b"},\
            "directory":"/srv","maxRestarts":3,"graceMillis":30000},\
            "wanted":[{"gpu":"gpu0","device":"0","addedBy":"test/1/1","bound":true}],\
            "batching":%1$s,"applied":%1$s,\
            "change":"test/1/2","askedNanos":7,"settled":false,"stopping":true,\
            "releases":[{"gpu":"gpu1","device":"1","change":"test/1/2","askedNanos":7}],\
            "workers":[{"name":"w-0","token":"t","cause":"test/1/1","slots":[{"gpu":"gpu0","device":"0"}]}],\
            "epoch":4,"members":["w-0","w-1"]""".formatted(BATCHING);

    @TempDir
    Path directory;

    private JobFile read(String text) throws IOException {
        return JobFile.read(Files.writeString(directory.resolve("job.json"), text));
    }

    private String written(JobFile file) throws IOException {
        Path path = directory.resolve("written.json");
        file.write(path);
        return Files.readString(path);
    }

    @Test
    void aJobIsReadAndWrittenWithAllItsFieldsAtOneLevel() throws IOException {
        String text =
                TRAINING + ",\"pending\":{\"epoch\":5,\"kind\":\"CHANGE\",\"members\":[\"w-0\"],\"wholeChange\":true}}";

        JobFile file = read(text);

        assertThat(file.program().environment()).isEqualTo(Map.of("A", "b"));
        assertThat(file.lastChange()).isEqualTo(new JobFile.LastChange("test/1/2", 7, false, true));
        assertThat(file.membership())
                .isEqualTo(new JobFile.Membership(
                        4, List.of("w-0", "w-1"), new JobFile.Pending(5, "CHANGE", List.of("w-0"), true)));
        assertThat(written(file)).isEqualTo(text);
    }

    @Test
    void aGroupThatDoesNotChangeHasNoFieldForTheNextOne() throws IOException {
        JobFile file = read(TRAINING + "}");

        assertThat(file.membership().pending()).isNull();
        assertThat(written(file)).isEqualTo(TRAINING + "}");
    }

    @Test
    void aJobOverSeveralMachinesKnowsThemAll() throws IOException {
        String text = TRAINING
                + ",\"machines\":{\"world\":{\"members\":[{\"node\":\"n1\",\"address\":\"10.0.0.1\",\"workers\":2},"
                + "{\"node\":\"n2\",\"address\":\"n2\",\"workers\":1}],\"self\":1,\"port\":29517,\"device\":\"eth0\"},\"runs\":\"test/1/1\",\"finished\":true}}";

        JobFile file = read(text);

        assertThat(file.world())
                .contains(new WorldPart(
                        List.of(new WorldPart.Member("n1", "10.0.0.1", 2), new WorldPart.Member("n2", "n2", 1)),
                        1,
                        29517,
                        "eth0"));
        assertThat(file.finished()).isTrue();
        assertThat(file.runs()).contains(change(1));
        assertThat(written(file)).isEqualTo(text);
        assertThat(read(TRAINING + "}").world()).isEmpty();
        assertThat(read(TRAINING + "}").runs()).isEmpty();
        assertThat(read(TRAINING + "}").finished()).isFalse();
    }

    @Test
    void aFieldOfAnotherVersionIsPassedOver() throws IOException {
        assertThat(read(TRAINING + ",\"added\":{\"later\":true}}")).isEqualTo(read(TRAINING + "}"));
    }
}
