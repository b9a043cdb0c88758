package io.lendstream.actuator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.event.UnitPlacement;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PartsTest {
    private static final DomainId DOMAIN = new DomainId("d");

    @Test
    void aReportOfUsualSizeStaysWhole() {
        ActuationReport report = report(5_000);

        assertThat(Parts.of(report)).containsExactly(report);
        assertThat(Parts.of(report(0))).containsExactly(report(0));
    }

    @Test
    void aLargeOneIsPartedAndEachGpuIsInOnePart() {
        ActuationReport report = report(100_000);

        List<ActuationReport> parts = Parts.of(report);

        assertThat(parts).hasSizeBetween(10, 30).allSatisfy(part -> {
            assertThat(part.outcome()).isEqualTo(Outcome.ACCEPTED);
            assertThat(part.at()).isEqualTo(report.at());
            assertThat(part.gpus().stream()
                            .mapToInt(gpu -> gpu.value().length())
                            .sum())
                    .isLessThanOrEqualTo(Parts.MOST_BYTES);
        });
        assertThat(parts.stream().flatMap(part -> part.gpus().stream()).toList())
                .isEqualTo(report.gpus());
    }

    @Test
    void aPartHasThePlacementsOfItsGpus() {
        ActuationReport report = placed(report(20_000, Outcome.BOUND));

        List<ActuationReport> parts = Parts.of(report);

        assertThat(parts)
                .hasSizeGreaterThan(1)
                .allSatisfy(part -> assertThat(part.placements())
                        .extracting(UnitPlacement::named)
                        .isEqualTo(part.gpus()));
    }

    @Test
    void aReportOfWhichTheGpusAreCountedIsWholeOrLeftOut() {
        assertThat(Parts.of(placed(report(100, Outcome.HOLDS)))).hasSize(1);
        assertThat(Parts.of(placed(report(20_000, Outcome.HOLDS)))).isEmpty();
    }

    @Test
    void eachPartSaysThatTheProgramIsAtFault() {
        assertThat(Parts.of(report(20_000, Outcome.FAILED).ofProgram(true)))
                .hasSizeGreaterThan(1)
                .allMatch(ActuationReport::programFault);
    }

    private static ActuationReport placed(ActuationReport report) {
        return report.with(report.gpus().stream()
                .map(gpu -> UnitPlacement.unknown(gpu, Optional.empty()))
                .toList());
    }

    private static ActuationReport report(int gpus) {
        return report(gpus, Outcome.ACCEPTED);
    }

    private static ActuationReport report(int gpus, Outcome outcome) {
        return new ActuationReport(
                DOMAIN,
                new DecisionId(DOMAIN, 1, 1),
                "actuator",
                Instant.EPOCH,
                outcome,
                IntStream.range(0, gpus)
                        .mapToObj(gpu -> new GpuId("GPU-00000000-0000-0000-0000-%012d".formatted(gpu)))
                        .toList(),
                Optional.empty(),
                Timings.NONE,
                "");
    }
}
