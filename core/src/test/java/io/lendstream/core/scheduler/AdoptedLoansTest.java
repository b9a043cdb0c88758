package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.FoundTenant;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A job that is taken over on GPUs of inference runs on there at every level of trust, until inference needs them. */
class AdoptedLoansTest {
    private static final String TRAIN = "process/4711-99";
    private static final Tenant BERT = new Tenant.Job(new JobId("bert"));
    private static final List<GpuId> USED = List.of(new GpuId("n-g0"), new GpuId("n-g1"));

    private static final AdoptionSelector SELECTOR = new AdoptionSelector(Map.of("command", "*train.py*"));

    private Scenario story = story("true");
    private long samples;

    private static Scenario story(String strict) {
        return new Scenario(new Scheduler(
                Policies.parse("deepboot"),
                SchedulerSettings.of(Map.of("heed-users", "true", "first-trust", "advise", "strict-users", strict))));
    }

    private void look(boolean isFound) {
        samples++;
        List<GpuSample> all = story.state().gpus().stream()
                .map(unit -> GpuSample.of(unit.gpuId())
                        .build()
                        .withUsers(isFound && USED.contains(unit.gpuId()) ? List.of(TRAIN) : List.of()))
                .toList();
        story.tell(new GpuTelemetry(new NodeId("n"), Scenario.DOMAIN, "boot-1", samples, story.now(), all));
        FoundTenant train = new FoundTenant(new NodeId("n"), TRAIN, List.of(BERT), Optional.empty(), "train.py");
        story.found("actuator", isFound ? List.of(train) : List.of());
    }

    private void rate() {
        if (!story.state().services().isEmpty()) {
            story.rate("other", 0);
        }
    }

    /** A rigid job on two of four GPUs of inference is taken over at a level. */
    private void adopted() {
        story.node("n", Pool.INFERENCE, 4).actuator("actuator", Abilities.USUAL, "n");
        story.tell(story.jobRecord("bert", 2, false).adopting(SELECTOR));
        for (int i = 0; i < 3; i++) {
            rate();
            story.after(ofSeconds(20));
            look(true);
        }
        Decision decision = story.decisions().stream()
                .filter(each -> each.action().asAdopt().isPresent())
                .findFirst()
                .orElseThrow();
        for (Outcome outcome : List.of(Outcome.BOUND, Outcome.APPLIED)) {
            story.tell(story.report(decision.id(), outcome, decision.action().gpus(), Optional.of(BERT)));
        }
        assertThat(story.count("lent")).isEqualTo(2);
    }

    private void watched(Duration time) {
        for (long second = 20; second <= time.toSeconds(); second += 20) {
            rate();
            story.after(ofSeconds(20)).progress("bert", JobPhase.RUNNING);
            look(false);
        }
    }

    private List<Decision> decided(Class<? extends Action> kind) {
        return story.decisions().stream()
                .filter(decision -> kind.isInstance(decision.action()))
                .toList();
    }

    @ParameterizedTest
    @EnumSource(names = {"OBSERVE", "ADVISE", "ONE_SERVICE", "SHARE", "ALL"})
    void itRunsOnForHalfAnHour(TrustLevel level) {
        story.service("other", 0).withoutTicks(ofSeconds(1)).trust(level, true, "other");
        adopted();

        watched(ofMinutes(30));

        assertStays();
    }

    private void assertStays() {
        assertThat(story.count("lent")).isEqualTo(2);
        assertThat(decided(Action.Reclaim.class)).isEmpty();
        assertThat(decided(Action.Renew.class))
                .hasSizeGreaterThan(3)
                .noneMatch(Decision::advisory)
                .allSatisfy(renewed -> assertThat(renewed.action().gpus()).isEqualTo(USED));
        Instant until = story.owner("n-g0").asLent().orElseThrow().until();
        assertThat(until).isAfter(story.now());
        assertThat(story.verdict().violations())
                .filteredOn(violation -> !violation.rule().equals("answer"))
                .isEmpty();
    }

    @Test
    void itStaysWhenTheLevelFalls() {
        adopted();
        story.trust(TrustLevel.ALL, true);
        watched(ofMinutes(2));
        story.trust(TrustLevel.SHARE, false).trust(TrustLevel.OBSERVE, false);

        watched(ofMinutes(30));

        assertStays();
    }

    @Test
    void itsLoanEndsIfAnOperatorOrdersLoansBack() {
        adopted();
        story.control(ControlCommand.Kind.RECLAIM_ALL);
        int renewed = decided(Action.Renew.class).size();

        watched(ofMinutes(8));

        assertThat(decided(Action.Renew.class).stream().filter(each -> !each.advisory()))
                .hasSize(renewed);
    }

    @Test
    void itStaysIfItsOwnerDeclaresNoSelectorAnyMore() {
        story.service("other", 0);
        adopted();
        watched(ofMinutes(1));

        story.tell(story.jobRecord("bert", 2, false));
        watched(ofMinutes(30));

        assertStays();
    }

    /** A replay of a log of an older version decides as that version did. */
    @Test
    void beforeThisRuleItsOwnersLastWordDecided() {
        story = story("false");
        story.service("other", 0);
        adopted();
        watched(ofMinutes(1));

        story.tell(story.jobRecord("bert", 2, false));
        watched(ofMinutes(30));

        assertThat(story.count("lent")).isZero();
    }

    @Test
    void aSelectorDeclaredLaterKeepsNoLoan() {
        lentByAPlan();

        story.tell(story.jobRecord("bert", 2, false).adopting(SELECTOR));
        watched(ofMinutes(2));
        story.trust(TrustLevel.ADVISE, false);
        watched(ofMinutes(2));

        assertThat(decided(Action.Reclaim.class)).hasSize(1).noneMatch(Decision::advisory);
        assertThat(story.count("lent")).isZero();
    }

    /** A job that Lendstream starts on two idle GPUs of inference. */
    private void lentByAPlan() {
        story.service("other", 0).node("n", Pool.INFERENCE, 4).actuator("actuator", Abilities.USUAL, "n");
        story.tell(story.jobRecord("bert", 2, false));
        watched(ofMinutes(3));
        story.trust(TrustLevel.ALL, true);
        for (int i = 0; i < 15; i++) {
            rate();
            story.after(ofSeconds(20)).settled().progress("bert", JobPhase.RUNNING);
            look(false);
        }
        assertThat(story.count("lent")).isEqualTo(2);
    }
}
