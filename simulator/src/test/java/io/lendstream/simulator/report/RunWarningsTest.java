package io.lendstream.simulator.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.simulator.report.ReportedRun.Inference;
import io.lendstream.simulator.report.ReportedRun.Training;
import io.lendstream.simulator.report.RunFacts.References;
import io.lendstream.simulator.workload.InferenceNeed;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RunWarningsTest {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    @Test
    void demandBeyondTheGpusIsAnAlarmWithTheLikelyMistake() {
        assertThat(RunWarnings.overload(need(30, .25, .26))).hasValueSatisfying(warning -> {
            assertThat(warning.level()).isEqualTo(RunWarning.Level.ALARM);
            assertThat(warning.line())
                    .isEqualTo(
                            "ALARM: services need up to 30 GPUs, 8 inference GPUs exist (from 2026-01-01 01:00 UTC to 2026-01-01 02:00 UTC, 60 min in all): 25.0 % of demand is beyond them, so no policy can meet the SLO. Is a scale per minute taken as per second?");
        });
    }

    @Test
    void onlyAPeakOfTwiceTheGpusAsksForTheScale() {
        assertThat(RunWarnings.overload(need(16, .002, .002)).orElseThrow().line())
                .startsWith("ALARM: ")
                .endsWith("Is a scale per minute taken as per second?");
        assertThat(RunWarnings.overload(need(15, .002, .002)).orElseThrow().line())
                .startsWith("ALARM: ")
                .endsWith("so no policy can meet the SLO.");
    }

    @Test
    void demandBeyondTheGpusWithinTheErrorBudgetIsANote() {
        assertThat(RunWarnings.overload(need(9, .0009, .001)).orElseThrow().line())
                .startsWith("NOTE: services need up to 9 GPUs, 8 inference GPUs exist")
                .endsWith(
                        ": 0.100 % of the GPU time they need is beyond those: requests queue up while demand exceeds the GPUs.");
    }

    @Test
    void wholeGpusBeyondThoseThatExistAreAWarning() {
        assertThat(RunWarnings.overload(need(9, 0, .02)).orElseThrow().line())
                .startsWith("WARNING: services need up to 9 GPUs, 8 inference GPUs exist")
                .endsWith(
                        "services cannot share a GPU, and 2.0 % of the GPU time they need is beyond those: requests queue up while demand exceeds the GPUs.");
        assertThat(RunWarnings.overload(need(3, 9, 7.5, 0, .02)).orElseThrow().line())
                .endsWith(
                        "services cannot share a GPU, and 2.0 % of the GPU time they need is beyond those: some requests will wait.");
        assertThat(RunWarnings.overload(need(8, 0, 0))).isEmpty();
    }

    @Test
    void oneServiceHasNoneToShareWithAndItsRequestsQueueUp() {
        assertThat(RunWarnings.overload(need(1, 9, 8.1, .0005, .02))
                        .orElseThrow()
                        .line())
                .startsWith("WARNING: ")
                .endsWith(
                        " in all): 2.0 % of the GPU time they need is beyond those: requests queue up while demand exceeds the GPUs.");
    }

    @Test
    void aSmallExcessThatLastsIsAnAlarmAndOneThatPassesIsNot() {
        assertThat(RunWarnings.overload(need(3, 9, 8.004, .0005, .001, Duration.ofHours(4)))
                        .orElseThrow()
                        .line())
                .isEqualTo(
                        "ALARM: services need up to 9 GPUs, 8 inference GPUs exist (from 2026-01-01 01:00 UTC to 2026-01-01 02:00 UTC, 60 min in all): demand is beyond them for 4 h without a break (0.050 % of all demand): the backlog grows all that time, so requests miss the SLO until it is worked off.");
        assertThat(level(Duration.ofMinutes(20))).isEqualTo(RunWarning.Level.ALARM);
        assertThat(level(Duration.ofMinutes(15))).isEqualTo(RunWarning.Level.NOTE);
        assertThat(level(Duration.ofMinutes(5))).isEqualTo(RunWarning.Level.NOTE);
    }

    /** The level of 0.05 % of demand beyond the GPUs, without a break for a time. */
    private static RunWarning.Level level(Duration longestExcess) {
        return RunWarnings.overload(need(3, 9, 8.004, .0005, .001, longestExcess))
                .orElseThrow()
                .level();
    }

    @Test
    void wholeReplicasAndKindsAreNamed() {
        InferenceNeed plain = need(9, .01, .02);
        InferenceNeed grouped = new InferenceNeed(
                1, 1, 2, 2, .01, .02, plain.from(), plain.to(), plain.length(), plain.longestExcess(), true, true);

        assertThat(RunWarnings.overload(grouped).orElseThrow().line())
                .startsWith("ALARM: services need up to 2 GPUs in whole replicas, 1 inference GPU exists")
                .endsWith(" Counted are GPUs of all kinds, and replicas on the kind where each answers most.");
        assertThat(RunWarnings.overload(plain).orElseThrow().line()).doesNotContain("whole replicas", "kind");
    }

    /** A need of three services. */
    private static InferenceNeed need(int peak, double excessShare, double wholeExcessShare) {
        return need(3, peak, peak - .5, excessShare, wholeExcessShare);
    }

    /** A need against 8 GPUs, beyond them for an hour, but never for long without a break if services share. */
    private static InferenceNeed need(
            int services, int peak, double peakShare, double excessShare, double wholeExcessShare) {
        return need(services, peak, peakShare, excessShare, wholeExcessShare, Duration.ofMinutes(5));
    }

    private static InferenceNeed need(
            int services,
            int peak,
            double peakShare,
            double excessShare,
            double wholeExcessShare,
            Duration longestExcess) {
        return new InferenceNeed(
                services,
                8,
                peak,
                peakShare,
                excessShare,
                wholeExcessShare,
                START.plusSeconds(3600),
                START.plusSeconds(7200),
                Duration.ofHours(1),
                longestExcess,
                false,
                false);
    }

    @Test
    void anAttainmentIsJudgedByTheObjective() {
        assertThat(slo(.9991)).isEmpty();
        assertThat(slo(.9989).map(RunWarning::code)).contains("slo-below-objective");
        assertThat(slo(.844).map(RunWarning::code)).contains("slo-alarm");
        assertThat(slo(.844).orElseThrow().line())
                .isEqualTo(
                        "ALARM: run: 84.4 % of the requests within their SLO, below 99 %; 15,600 % of the error budget of 99.9 %.");
    }

    private static Optional<RunWarning> slo(double attained) {
        Inference requests =
                new Inference(100, Optional.empty(), Optional.empty(), Optional.empty(), Optional.of(attained));
        return RunWarnings.slo(ReportedRun.ofFigures("run", true, training(1, 10), requests, true));
    }

    @Test
    void aClusterThatIsNeverFullComparesNothing() {
        References alike = new References(run(0, 100), run(0, 99.5));

        assertThat(RunWarnings.neverFull(List.of(run(0, 100.2)), alike).map(RunWarning::code))
                .contains("cluster-never-full");
        assertThat(RunWarnings.neverFull(List.of(run(0, 130)), alike)).isEmpty();
        assertThat(RunWarnings.neverFull(List.of(run(0, 100)), new References(run(3600, 100), run(0, 99.5))))
                .isEmpty();
        assertThat(RunWarnings.neverFull(List.of(run(0, 100)), new References(run(0, 100), run(0, 50))))
                .isEmpty();
    }

    @Test
    void anExperimentalPolicyIsAWarning() {
        assertThat(RunWarnings.policy("lendstream:plan-every=30s").map(RunWarning::text))
                .hasValueSatisfying(text -> assertThat(text).contains("experimental"));
        assertThat(RunWarnings.policy("deepboot")).isEmpty();
        assertThat(RunWarnings.policy("no-lending")).isEmpty();
    }

    private static ReportedRun run(double wait, double seconds) {
        Inference none = new Inference(0, Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
        return ReportedRun.ofFigures("run", true, training(wait, seconds), none, true);
    }

    private static Training training(double wait, double seconds) {
        return new Training(
                1, 1, List.of(seconds), Optional.of(0), Optional.of(0), Optional.of(wait), Optional.empty());
    }
}
