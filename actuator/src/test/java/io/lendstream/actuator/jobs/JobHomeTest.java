package io.lendstream.actuator.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.id.JobId;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class JobHomeTest {
    private static final Path JOBS = Path.of("/state/jobs");
    private static final int NAME_MAX = 255;

    static List<String> names() {
        return List.of(
                ".",
                "..",
                "...",
                ".hidden",
                "a/b",
                "/etc/passwd",
                "../../x",
                "a b",
                "a+b",
                "~",
                "%2E",
                "*",
                "\u001b[31m\n",
                "x".repeat(249),
                "x".repeat(248) + "y",
                "字".repeat(249),
                "\uD83D\uDE80".repeat(124),
                "..".repeat(124));
    }

    @ParameterizedTest
    @MethodSource("names")
    void aHomeIsAChildOfTheDirectoryWithAShortNameInAscii(String name) {
        Path home = JobHome.of(JOBS, new JobId(name));

        assertThat(home.normalize()).isEqualTo(home);
        assertThat(home.getParent()).isEqualTo(JOBS);
        assertThat(home.getFileName().toString())
                .matches("[\\x21-\\x7E]+")
                .doesNotStartWith(".")
                .hasSizeLessThanOrEqualTo(NAME_MAX);
        assertThat(JobHome.label(new JobId(name)).getBytes(StandardCharsets.UTF_8).length)
                .as("bytes of a worker's name without its random part")
                .isLessThanOrEqualTo(128);
        assertThat(JobHome.complaint(new JobId(name))).isEmpty();
    }

    @Test
    void noTwoJobsHaveOneHome() {
        assertThat(names().stream().map(name -> JobHome.of(JOBS, new JobId(name))))
                .doesNotHaveDuplicates();
    }

    @Test
    void namesThatNoProcessCanBeGivenAreRefused() {
        assertThat(JobHome.complaint(new JobId("a\0b")))
                .hasValueSatisfying(why -> assertThat(why).contains("NUL"));
        assertThat(JobHome.complaint(new JobId("a\uD800")))
                .hasValueSatisfying(why -> assertThat(why).contains("Unicode"));
    }
}
