package io.lendstream.simulator.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.simulator.report.ReportedRun.Inference;
import io.lendstream.simulator.report.ReportedRun.Training;
import io.lendstream.simulator.report.RunFacts.Anchors;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StandingsTest {
    private static final ReportedRun FLOOR = run("no-lending, lending off", 2, 300.0, 500.0);
    private static final ReportedRun CEILING = run("clairvoyant, lending on", 2, 100.0, 100.0);
    private static final ReportedRun HALFWAY = run("deepboot, lending on", 2, 200.0, 300.0);

    @Test
    void aRunStandsBetweenFloorAndCeiling() {
        Anchors anchors = new Anchors(FLOOR, CEILING);

        assertThat(anchors.shorterThanFloor(HALFWAY.training())).contains(.375);
        assertThat(anchors.gapClosed(HALFWAY.training())).contains(.5);
        assertThat(anchors.gapClosed(FLOOR.training())).contains(0.0);
        assertThat(anchors.gapClosed(CEILING.training())).contains(1.0);
    }

    @Test
    void averagesOfOtherJobsAreNotCompared() {
        Anchors anchors = new Anchors(FLOOR, CEILING);
        ReportedRun oneLeft = run("deepboot, lending on", 2, 200.0);

        assertThat(anchors.shorterThanFloor(oneLeft.training())).isEmpty();
        assertThat(anchors.gapClosed(oneLeft.training())).isEmpty();
    }

    @Test
    void noShareIsClosedWhereFloorAndCeilingAreOne() {
        assertThat(new Anchors(FLOOR, FLOOR).gapClosed(HALFWAY.training())).isEmpty();
    }

    @Test
    void theTableGoesFromTheFloorToTheCeiling() {
        RunFacts facts = new RunFacts("t", List.of(), List.of(HALFWAY), Optional.of(new Anchors(FLOOR, CEILING)));

        assertThat(Standings.lines(facts))
                .containsExactly(
                        "                                   jobs done   average JCT   shorter than floor   gap closed   requests within SLO",
                        "floor: no-lending, lending off        2 of 2         400 s                0.0 %        0.0 %                90.0 %",
                        "deepboot, lending on                  2 of 2         250 s               37.5 %       50.0 %                90.0 %",
                        "ceiling: clairvoyant, lending on      2 of 2         100 s               75.0 %      100.0 %                90.0 %");
    }

    @Test
    void anAnchorThatWasAskedForIsShownOnce() {
        RunFacts facts =
                new RunFacts("t", List.of(), List.of(FLOOR, HALFWAY), Optional.of(new Anchors(FLOOR, CEILING)));

        assertThat(facts.shown()).containsExactly(FLOOR, HALFWAY, CEILING);
        assertThat(Standings.rows(facts)).hasSize(3);
    }

    private static ReportedRun run(String name, int submitted, Double... seconds) {
        return ReportedRun.ofFigures(
                name,
                name.endsWith("on"),
                new Training(submitted, seconds.length, List.of(seconds), Optional.empty(), Optional.empty()),
                new Inference(10, Optional.empty(), Optional.empty(), Optional.empty(), Optional.of(.9)),
                true);
    }
}
