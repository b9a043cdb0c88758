package io.lendstream.simulator.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.simulator.OwnRequests;
import io.lendstream.simulator.report.ReportedRun.Inference;
import io.lendstream.simulator.report.ReportedRun.Training;
import io.lendstream.simulator.report.RunFacts.References;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StandingsTest {
    private static final ReportedRun BASELINE = run("no-lending, lending off", 2, 300.0, 500.0);
    private static final ReportedRun ORACLE = run("clairvoyant, lending on", 2, 100.0, 100.0);
    private static final ReportedRun HALFWAY = run("deepboot, lending on", 2, 200.0, 300.0);

    @Test
    void aRunHasAShareOfThePossibleGain() {
        References references = new References(BASELINE, ORACLE);

        assertThat(references.gain(HALFWAY.training())).contains(.375);
        assertThat(references.shareOfPossibleGain(HALFWAY.training())).contains(.5);
        assertThat(references.shareOfPossibleGain(BASELINE.training())).contains(0.0);
        assertThat(references.shareOfPossibleGain(ORACLE.training())).contains(1.0);
    }

    @Test
    void averagesOfOtherJobsAreNotCompared() {
        References references = new References(BASELINE, ORACLE);
        ReportedRun oneLeft = run("deepboot, lending on", 2, 200.0);

        assertThat(references.gain(oneLeft.training())).isEmpty();
        assertThat(references.shareOfPossibleGain(oneLeft.training())).isEmpty();
    }

    @Test
    void thereIsNoShareOfAGainBelowOnePercent() {
        ReportedRun hardlyBetter = run("clairvoyant, lending on", 2, 298.0, 499.0);
        References references = new References(BASELINE, hardlyBetter);
        RunFacts facts = new RunFacts("t", List.of(), List.of(HALFWAY), Optional.of(references));

        assertThat(new References(BASELINE, BASELINE).shareOfPossibleGain(HALFWAY.training()))
                .isEmpty();
        assertThat(references.shareOfPossibleGain(HALFWAY.training())).isEmpty();
        assertThat(Standings.lines(facts))
                .contains(
                        "No share of the possible gain (–): the oracle gains 0.375 % over the baseline, less than 1.0 %.");
    }

    @Test
    void theTablesGoFromTheBaselineToTheOracle() {
        RunFacts facts = new RunFacts("t", List.of(), List.of(HALFWAY), Optional.of(new References(BASELINE, ORACLE)));

        assertThat(Standings.gain(facts))
                .extracting(row -> row.get(0) + "|" + row.get(2) + "|" + row.get(3) + "|" + row.get(4))
                .containsExactly(
                        "no-lending baseline: no-lending, lending off|6.67 min|0.0 %|0.0 %",
                        "deepboot, lending on|4.17 min|37.5 %|50.0 %",
                        "oracle: clairvoyant, lending on|1.67 min|75.0 %|100.0 %");
        assertThat(Standings.cost(facts).get(1))
                .containsExactly(
                        "deepboot, lending on",
                        "ALARM 10.0 % (10)",
                        "same",
                        "10,000 % used",
                        "–",
                        "vision: 20.0 % (10)");
        assertThat(Standings.lines(facts).get(1)).startsWith("no-lending baseline: no-lending, lending off   ");
    }

    @Test
    void aNoteSaysThatTheBaselineHasMissesFromTheColdStartToo() {
        String note = "Every run starts without replicas: the first requests of each service wait for a cold start."
                + " The baseline has SLO misses from it, too.";

        assertThat(Standings.lines(
                        new RunFacts("t", List.of(), List.of(HALFWAY), Optional.of(new References(BASELINE, ORACLE)))))
                .contains(note);
        assertThat(Standings.lines(new RunFacts("t", List.of(), List.of(HALFWAY))))
                .doesNotContain(note);
    }

    @Test
    void aReferenceThatWasAskedForIsShownOnce() {
        RunFacts facts =
                new RunFacts("t", List.of(), List.of(BASELINE, HALFWAY), Optional.of(new References(BASELINE, ORACLE)));

        assertThat(facts.shown()).containsExactly(BASELINE, HALFWAY, ORACLE);
        assertThat(Standings.gain(facts)).hasSize(3);
    }

    @Test
    void missesAreAgainstThoseOfTheBaseline() {
        assertThat(Standings.against(.0011, .00019)).isEqualTo("5.79 times");
        assertThat(Standings.against(.1001, .1)).isEqualTo("same");
        assertThat(Standings.against(0, 0)).isEqualTo("same");
        assertThat(Standings.against(.1, 0)).isEqualTo("baseline has none");
    }

    @Test
    void deadlinesAndQueuesHaveAColumnWhereThereAreSome() {
        assertThat(Standings.gainColumns(new RunFacts("t", List.of(), List.of(HALFWAY))))
                .doesNotContain("deadlines met", "longest wait for nominal quota");
        Training training = new Training(
                3,
                0,
                List.of(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.of(new KeptDeadlines(2, 1)),
                Optional.empty(),
                List.of(new QueueWait("team-a", 4, 20), new QueueWait("team-b", 1, 35), new QueueWait("team-c", 0, 0)));
        ReportedRun queued = ReportedRun.ofFigures("tiresias", true, training, HALFWAY.inference(), true);

        RunFacts facts = new RunFacts("t", List.of(), List.of(queued, HALFWAY));

        assertThat(Standings.gainColumns(facts)).endsWith("deadlines met", "longest wait for nominal quota");
        assertThat(Standings.gain(facts).get(0)).endsWith("2 of 3", "team-b: 35 s");
        assertThat(Standings.gain(facts).get(1)).endsWith("–", "–");
    }

    /** Both runs have the same 9 misses of 100 requests; then load repeats for different times. */
    @Test
    void missesAreComparedOverTheSameRequests() {
        ReportedRun shorter = longer("no-lending, lending off", 110);
        ReportedRun longer = longer("deepboot, lending on", 150);
        RunFacts facts = new RunFacts("t", List.of(), List.of(longer), Optional.of(new References(shorter, longer)));

        assertThat(Standings.cost(facts)).extracting(row -> row.get(2)).containsOnly("same");
        assertThat(Standings.lines(facts))
                .contains("Load repeats its last day until the last job ends, so longer runs have more requests."
                        + " Misses against the baseline are of the 100 requests up to the workload's own end.");
        assertThat(HtmlReport.render(facts))
                .contains("Requests up to the workload&#39;s own end", "SLO misses of these");
    }

    private static ReportedRun longer(String name, int requests) {
        Inference inference = new Inference(
                requests,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.of(1 - 9.0 / requests),
                List.of(new ServiceSlo("chat", requests, requests - 9, 0)),
                Optional.of(new OwnRequests(100, 91)));
        return ReportedRun.ofFigures(name, name.endsWith("on"), BASELINE.training(), inference, true);
    }

    private static ReportedRun run(String name, int submitted, Double... seconds) {
        return ReportedRun.ofFigures(
                name,
                name.endsWith("on"),
                new Training(submitted, seconds.length, List.of(seconds), Optional.empty(), Optional.empty()),
                new Inference(
                        100,
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.of(.9),
                        List.of(new ServiceSlo("chat", 50, 50, 0), new ServiceSlo("vision", 50, 40, 0)),
                        Optional.empty()),
                true);
    }
}
