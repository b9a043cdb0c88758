package io.lendstream.actuator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ReportOutboxTest {
    private static final DomainId DOMAIN = new DomainId("d");
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final String PARTITION = "lendstream.actuation-reports-0";

    private final ReportOutbox outbox = new ReportOutbox(4, 2);

    @Test
    void nothingIsGivenOutBeforeItIsReleasedAndTheTopicWasRead() throws InterruptedException {
        outbox.add(List.of(report(1, Outcome.ACCEPTED)));
        outbox.reconcile(List.of(), Map.of());
        assertThat(outbox.awaitSome(Duration.ZERO)).isFalse();

        outbox.release();
        assertThat(outbox.awaitSome(Duration.ZERO)).isTrue();

        var unread = new ReportOutbox();
        unread.add(List.of(report(1, Outcome.ACCEPTED)));
        unread.release();
        assertThat(unread.awaitSome(Duration.ZERO)).isFalse();
    }

    @Test
    void reportsStayUntilTheyAreDelivered() {
        released(report(1, Outcome.ACCEPTED), report(1, Outcome.BOUND), report(2, Outcome.ACCEPTED));

        assertThat(outbox.next(2).reports()).containsExactly(report(1, Outcome.ACCEPTED), report(1, Outcome.BOUND));
        outbox.failed();
        assertThat(outbox.next(2).reports()).containsExactly(report(1, Outcome.ACCEPTED), report(1, Outcome.BOUND));
        outbox.delivered(Map.of(PARTITION, 2L));

        assertThat(outbox.contents())
                .isEqualTo(new ReportOutbox.Contents(List.of(report(2, Outcome.ACCEPTED)), Map.of(PARTITION, 2L)));
        assertThat(outbox.next(2).reports()).containsExactly(report(2, Outcome.ACCEPTED));
    }

    @Test
    void whatEachGpuHoldsIsSupersededAndNotKeptOverARestart() {
        released(report(1, Outcome.HOLDS), report(1, Outcome.RELEASED));

        released(report(2, Outcome.HOLDS));

        assertThat(outbox.contents().reports()).containsExactly(report(1, Outcome.RELEASED));
        assertThat(outbox.next(9).reports()).containsExactly(report(1, Outcome.RELEASED), report(2, Outcome.HOLDS));
    }

    @Test
    void whatIsFoundInADomainIsSupersededByWhatIsFoundThereLaterAndNotKeptOverARestart() {
        ActuationReport first = found("d", 1);
        ActuationReport other = found("e", 1);
        released(first, other, report(1, Outcome.HOLDS));

        released(found("d", 2));

        assertThat(outbox.contents().reports()).isEmpty();
        assertThat(outbox.next(9).reports()).containsExactly(other, report(1, Outcome.HOLDS), found("d", 2));
    }

    private static ActuationReport found(String domain, int second) {
        DomainId id = new DomainId(domain);
        return ActuationReport.found(id, new DecisionId(id, 0, 0), "a", NOON.plusSeconds(second), List.of());
    }

    @Test
    void whatIsBeingSentIsNotSuperseded() {
        released(report(1, Outcome.HOLDS));
        outbox.next(9);

        released(report(2, Outcome.HOLDS));
        outbox.delivered(Map.of());

        assertThat(outbox.next(9).reports()).containsExactly(report(2, Outcome.HOLDS));
    }

    @Test
    void beyondItsBoundTheOldestReportIsDroppedAndCounted() {
        for (int decision = 1; decision <= 6; decision++) {
            released(report(decision, Outcome.RELEASED));
        }

        assertThat(outbox.droppedReports()).isEqualTo(2);
        assertThat(outbox.next(9).reports())
                .extracting(report -> report.decision().sequence())
                .containsExactly(3L, 4L, 5L, 6L);
    }

    @Test
    void theOldestProgressIsDroppedAndCounted() {
        released();
        for (int step = 1; step <= 3; step++) {
            outbox.add(progress(step));
        }

        assertThat(outbox.droppedProgress()).isEqualTo(1);
        assertThat(outbox.next(9).progress()).containsExactly(progress(2), progress(3));
        assertThat(outbox.next(9).progress()).isEmpty();
        outbox.failed();
    }

    @Test
    void aDescriptionIsSentAgainUnlessItIsForbidden() {
        outbox.reconcile(List.of(), Map.of());
        ActuatorDescription description =
                new ActuatorDescription("a", DOMAIN, NOON, "process", List.of(), Abilities.USUAL);
        outbox.add(description);

        assertThat(outbox.next(9).descriptions()).containsExactly(description);
        outbox.failed();
        assertThat(outbox.next(9).descriptions()).containsExactly(description);
        outbox.failedWithoutDescriptions();

        assertThat(outbox.next(9).isEmpty()).isTrue();
        assertThat(outbox.isEmpty()).isTrue();
    }

    @Test
    void whatIsOnTheTopicIsNotSentAgainAndWhatIsNotFromHereIsGivenBack() {
        outbox.restore(new ReportOutbox.Contents(
                List.of(report(1, Outcome.ACCEPTED), report(1, Outcome.BOUND), report(1, Outcome.BOUND)),
                Map.of(PARTITION, 5L)));

        List<ActuationReport> unknown = outbox.reconcile(
                List.of(report(1, Outcome.ACCEPTED), report(1, Outcome.BOUND), report(9, Outcome.ACCEPTED)),
                Map.of(PARTITION, 8L));

        assertThat(unknown).containsExactly(report(9, Outcome.ACCEPTED));
        assertThat(outbox.contents())
                .isEqualTo(new ReportOutbox.Contents(List.of(report(1, Outcome.BOUND)), Map.of(PARTITION, 8L)));
    }

    private void released(ActuationReport... reports) {
        outbox.reconcile(List.of(), Map.of(PARTITION, 0L));
        outbox.add(List.of(reports));
        outbox.release();
    }

    private static ActuationReport report(int decision, Outcome outcome) {
        return new ActuationReport(
                DOMAIN,
                new DecisionId(DOMAIN, 1, decision),
                "actuator",
                NOON.plusSeconds(decision),
                outcome,
                List.of(new GpuId("g")),
                Optional.empty(),
                Timings.NONE,
                "");
    }

    private static TrainingProgress progress(int step) {
        return new TrainingProgress(
                new io.lendstream.core.id.JobId("job"),
                DOMAIN,
                NOON,
                JobPhase.RUNNING,
                step,
                Optional.empty(),
                TrainingProgress.Parallelism.NONE,
                TrainingProgress.StepTiming.NOT_MEASURED,
                TrainingProgress.GradientStatistics.NOT_MEASURED);
    }
}
