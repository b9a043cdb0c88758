package io.lendstream.simulator.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The measurements are in LENDSTREAM_DATA, or in shared/data beside the project. */
class ApplicationClassTest {
    /** Five digits are kept. */
    private static final Percentage ROUNDING = Percentage.withPercentage(0.006);

    private final Path traces = Optional.ofNullable(System.getenv("LENDSTREAM_DATA"))
            .map(Path::of)
            .orElse(Path.of("../../shared/data"))
            .resolve("deepboot/traces");

    static List<ApplicationClass> kinds() {
        return ApplicationClass.ALL;
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void isAsFastAsAFreshFitToTheMeasurements(ApplicationClass kind) {
        ThroughputParameters fitted = measured(kind).known().throughput();

        double[] told = values(kind.throughput());
        double[] fresh = values(fitted);
        for (int i = 0; i < told.length; i++) {
            assertThat(told[i]).as("parameter %d of %s", i, fitted).isCloseTo(fresh[i], ROUNDING);
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void getsAsNoisyAsTheMiddleHalfOfItsMeasuredEpochs(ApplicationClass kind) {
        GroundTruth truth = measured(kind).truth();
        int initial = kind.application().batch().initial();

        double[] scales = IntStream.range(0, truth.epochs())
                .mapToDouble(epoch -> scale(truth.noise(epoch, initial), initial))
                .sorted()
                .toArray();

        List<GradientNoise> noise = kind.noise();
        assertThat(scale(noise.get(0), initial)).isCloseTo(at(scales, .25), ROUNDING);
        assertThat(scale(noise.get(noise.size() - 1), initial)).isCloseTo(at(scales, .75), ROUNDING);
    }

    @Test
    void kindsShareAllJobsAndUseNoMoreGpusThanTheyCan() {
        assertThat(kinds().stream().mapToDouble(ApplicationClass::share).sum())
                .isCloseTo(1, Percentage.withPercentage(1e-9));
        assertThat(kinds())
                .allSatisfy(kind -> assertThat(kind.maxGpus())
                        .isLessThanOrEqualTo(kind.application().maxGpus()));
    }

    private PolluxProfiles.Profile measured(ApplicationClass kind) {
        assumeTrue(Files.isDirectory(traces), () -> "no measurements in " + traces);
        return new PolluxProfiles(traces).of(kind.application());
    }

    private static double scale(GradientNoise noise, int initial) {
        return initial * noise.variance() / noise.squared();
    }

    private static double at(double[] sorted, double share) {
        return sorted[(int) Math.round(share * (sorted.length - 1))];
    }

    private static double[] values(ThroughputParameters of) {
        return new double[] {of.alphaC(), of.betaC(), of.alphaN(), of.betaN(), of.alphaR(), of.betaR(), of.gamma()};
    }
}
