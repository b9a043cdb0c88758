package io.lendstream.simulator.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SeedTableTest {
    @Test
    void aRunHasItsMeanWithAnInterval() {
        SeedFacts facts = new SeedFacts(List.of(1L, 2L, 3L), List.of(), false, List.of(row(100, 110, 120)));

        List<String> lines = SeedTable.lines(facts);

        assertThat(lines.get(0)).isEqualTo("Mean over 3 seeds: 1 to 3");
        assertThat(lines.get(2)).startsWith("deepboot, lending on").contains("110 ± 24.8 s", "40.0 ± 24.8 %");
        assertThat(lines.get(3)).contains("95 % confidence interval", "Student's t", "paired");
    }

    @Test
    void theIntervalOfFewSeedsIsSaidToBeWide() {
        SeedFacts few = new SeedFacts(List.of(1L, 2L, 3L, 4L), List.of(), false, List.of(row(100, 110, 120, 130)));
        SeedFacts enough =
                new SeedFacts(List.of(1L, 2L, 3L, 4L, 5L), List.of(), false, List.of(row(100, 110, 120, 130, 140)));

        assertThat(SeedTable.lines(few)).anyMatch(line -> line.contains("With fewer than 5 seeds it is wide."));
        assertThat(SeedTable.lines(enough)).noneMatch(line -> line.contains("it is wide"));
    }

    @Test
    void theTablesOfOneSeedAmongSeveralHaveAHeading() {
        assertThat(SeedTable.heading(new SeedFacts(List.of(4L, 9L), List.of(), false, List.of())))
                .contains("Seed 4, the first of 2 seeds:");
        assertThat(SeedTable.heading(new SeedFacts(List.of(4L), List.of(), false, List.of())))
                .isEmpty();
    }

    @Test
    void equalSeedsHaveNoIntervalButAReason() {
        SeedFacts facts = new SeedFacts(List.of(4L, 9L), List.of(), true, List.of(row(100, 100)));

        List<String> lines = SeedTable.lines(facts);

        assertThat(lines.get(0)).isEqualTo("Mean over 2 seeds: 4, 9");
        assertThat(String.join("\n", lines)).doesNotContain("±").contains("All seeds give the same input");
        assertThat(SeedTable.html(facts)).doesNotContain("±").contains("All seeds give the same input");
    }

    @Test
    void aSeedWithoutAGainIsLeftOutAndCounted() {
        SeedFigures first =
                new SeedFigures(1, 1, 1, Optional.of(100.0), Optional.of(.3), Optional.empty(), Optional.empty(), 0);
        SeedFigures second =
                new SeedFigures(2, 1, 1, Optional.of(100.0), Optional.empty(), Optional.empty(), Optional.empty(), 0);
        SeedRow row = SeedRow.of("deepboot, lending on", List.of(first, second), false, false);

        List<List<String>> rows = SeedTable.rows(new SeedFacts(List.of(1L, 2L), List.of(), false, List.of(row)));

        assertThat(rows.get(0))
                .containsExactly("deepboot, lending on", "100 ± 0 s", "(1 of 2 seeds) 30.0 %", "–", "–", "0 ± 0");
    }

    @Test
    void theTitleNamesTheSeedsThatFailed() {
        SeedFacts facts =
                new SeedFacts(List.of(1L, 2L), List.of(new SeedFailure(4, "no end")), false, List.of(row(100, 120)));

        assertThat(SeedTable.lines(facts).get(0)).isEqualTo("Mean over 2 of 3 seeds; seed 4 failed: no end");
        assertThat(SeedTable.html(facts)).contains("<h2>Mean over 2 of 3 seeds; seed 4 failed: no end</h2>");
    }

    @Test
    void aSeedWithUnfinishedJobsIsNotInTheAverage() {
        SeedRow row = SeedRow.of("deepboot, lending on", List.of(done(1), unfinished(2)), false, false);
        SeedFacts facts = new SeedFacts(List.of(1L, 2L), List.of(), false, List.of(row));

        assertThat(SeedTable.rows(facts).get(0).get(1)).isEqualTo("(1 of 2 seeds) 100 s");
        assertThat(SeedTable.lines(facts))
                .contains("An average JCT is the mean over the seeds in which all jobs completed.")
                .noneMatch(line -> line.contains("no average JCT"));
    }

    @Test
    void withoutAnyFinishedSeedTheAverageIsADashWithAReason() {
        SeedRow row = SeedRow.of("deepboot, lending on", List.of(unfinished(1), unfinished(2)), false, false);
        SeedFacts facts = new SeedFacts(List.of(1L, 2L), List.of(), false, List.of(row));

        assertThat(SeedTable.rows(facts).get(0).get(1)).isEqualTo("–");
        assertThat(SeedTable.lines(facts))
                .contains(
                        "deepboot, lending on: no average JCT (–), because some jobs did not complete in any of 2 seeds.");
    }

    private static SeedFigures done(long seed) {
        return new SeedFigures(seed, 2, 2, Optional.of(100.0), Optional.empty(), Optional.empty(), Optional.empty(), 0);
    }

    private static SeedFigures unfinished(long seed) {
        return new SeedFigures(seed, 2, 1, Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), 0);
    }

    private static SeedRow row(double... seconds) {
        List<SeedFigures> figures = new ArrayList<>();
        for (double each : seconds) {
            figures.add(new SeedFigures(
                    figures.size() + 1L,
                    1,
                    1,
                    Optional.of(each),
                    Optional.of((each - 70) / 100),
                    Optional.of(.5),
                    Optional.of(.001),
                    7));
        }
        return SeedRow.of("deepboot, lending on", figures, false, false);
    }
}
