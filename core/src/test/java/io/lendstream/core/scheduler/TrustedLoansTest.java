package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.fixtures.TrustedDomain;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.GpuState;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which loans a level of trust takes back, and when. */
class TrustedLoansTest {
    private final TrustedDomain domain = new TrustedDomain();
    private final Scenario story = domain.story();

    private List<Decision> takenBack() {
        return story.decisions().stream()
                .filter(decision -> decision.isReclaim() && decision.reason().is(ReasonCode.TRUST))
                .toList();
    }

    /** Two free GPUs of inference report a fault. */
    private void fault() {
        List<GpuSample> samples = story.state().gpus().stream()
                .filter(GpuState::isFree)
                .limit(2)
                .map(unit -> Scenario.sample(unit.gpuId(), Optional.of(79)))
                .toList();
        story.tell(new GpuTelemetry(new NodeId("infer"), Scenario.DOMAIN, "boot-1", 1, story.now(), samples));
    }

    @Test
    void theShareCountsGpusThatAreOutOfServiceAsPlansDo() {
        domain.jobs(TrustLevel.SHARE);
        domain.minutes(5);
        assertThat(story.count("lent")).isEqualTo(2);

        fault();
        assertThat(story.count("quarantined")).isEqualTo(2);
        domain.minutes(10);

        assertThat(takenBack()).isEmpty();
        assertThat(story.count("lent")).isEqualTo(2);
    }

    /** Loans are decided, and no actuator has answered. */
    private List<Decision> lends() {
        domain.jobs(TrustLevel.ALL);
        for (int i = 0; i < 40; i++) {
            story.rate("chat", 5);
            List<Decision> lends = story.last().stream()
                    .filter(decision -> decision.action().asLend().isPresent())
                    .toList();
            if (!lends.isEmpty()) {
                return lends;
            }
            story.settled().after(ofSeconds(15));
            lends = story.last().stream()
                    .filter(decision -> decision.action().asLend().isPresent())
                    .toList();
            if (!lends.isEmpty()) {
                return lends;
            }
            story.settled();
        }
        throw new AssertionError("nothing is lent");
    }

    @Test
    void aLoanThatIsBoundAfterTheFallIsTakenBackThen() {
        List<Decision> lends = lends();
        story.withoutTicks(ofSeconds(1)).trust(TrustLevel.ADVISE, false);
        assertThat(takenBack()).isEmpty();

        for (Decision lend : lends) {
            story.answers(lend).forEach(story::tell);
        }

        assertThat(takenBack()).hasSameSizeAs(lends).noneMatch(Decision::advisory);
        assertThat(story.count("lent")).isZero();
    }

    @Test
    void loansGoBackWhenNodesReportAgainAfterTheFall() {
        domain.jobs(TrustLevel.ALL);
        domain.minutes(5);
        sample();
        story.withoutTicks(ofMinutes(2)).trust(TrustLevel.OBSERVE, false);
        assertThat(takenBack()).isEmpty();
        assertThat(story.count("lent")).isPositive();

        sample();

        assertThat(takenBack()).isNotEmpty().noneMatch(Decision::advisory);
        assertThat(story.count("lent")).isZero();
    }

    private void sample() {
        story.sample("train", Optional.empty()).sample("infer", Optional.empty());
    }

    @Test
    void anOrderInABacklogIsAnsweredAndTakesLoansBackAfterIt() {
        domain.jobs(TrustLevel.ALL);
        domain.minutes(5);
        Instant caughtUp = story.now().plus(ofMinutes(1));
        story.takenOverBy(TrustedDomain.SCHEDULER.decidingFrom(Optional.of(caughtUp)))
                .withoutTicks(ofSeconds(1))
                .trust(TrustLevel.ADVISE, false);
        assertThat(story.last())
                .singleElement()
                .satisfies(hold -> assertThat(hold.reason().text()).contains("the level of trust is advise"));

        story.after(ofMinutes(1));

        assertThat(takenBack()).isNotEmpty().noneMatch(Decision::advisory);
        assertThat(story.count("lent")).isZero();
    }
}
