package io.lendstream.core.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Owner;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What is lent beyond a level of trust: at the level itself nothing is broken, one GPU further it is. */
class TrustRuleTest {
    private static final JobId BERT = new JobId("bert");
    private static final DecisionId DECISION = new DecisionId(Scenario.DOMAIN, 1, 1);
    private static final Owner FREE = new Owner.Free();
    private static final Owner LENT = new Owner.Lent(BERT, DECISION, Scenario.START.plusSeconds(600));
    private static final Owner ON_THE_WAY = new Owner.Binding(
            new Tenant.Job(BERT),
            DECISION,
            Scenario.START.plusSeconds(45),
            Optional.of(Scenario.START.plusSeconds(600)),
            1);
    private static final Optional<ServiceId> CHAT = Optional.of(new ServiceId("chat"));

    /** Eight inference GPUs, of which a quarter is two. */
    private static ScriptedHistory history(TrustLevel level, Optional<ServiceId> service) {
        ScriptedHistory history = new ScriptedHistory().trust(level, service).job("bert", 1);
        for (int i = 0; i < 8; i++) {
            history.gpu("infer-g" + i, Pool.INFERENCE, FREE);
        }
        return history;
    }

    private static Action lend(String unit) {
        return new Action.Lend(
                BERT, List.of(new GpuId(unit)), Scenario.START.plusSeconds(600), ScriptedHistory.allocation(unit));
    }

    private static List<String> broken(ScriptedHistory history) {
        return history.tick().verdict().violations().stream()
                .filter(violation -> violation.rule().equals("trust"))
                .map(Violation::toString)
                .toList();
    }

    @Test
    void adviceLendsOnlyWhatIsApproved() {
        ScriptedHistory approved = history(TrustLevel.ADVISE, Optional.empty());
        approved.decides(ReasonCode.APPROVED, lend("infer-g0"));
        assertThat(broken(approved)).isEmpty();

        ScriptedHistory advised = history(TrustLevel.ADVISE, Optional.empty());
        advised.decides(lend("infer-g0"), true);
        assertThat(broken(advised)).isEmpty();

        ScriptedHistory bound = history(TrustLevel.ADVISE, Optional.empty());
        bound.decides(lend("infer-g0"));
        assertThat(broken(bound)).singleElement().asString().contains("GPUs are lent without an approval");
    }

    @Test
    void observingLendsNothingEvenIfItIsApproved() {
        ScriptedHistory history = history(TrustLevel.OBSERVE, Optional.empty());
        history.decides(ReasonCode.APPROVED, lend("infer-g0"));
        assertThat(broken(history)).singleElement().asString().contains("GPUs are lent without an approval");
    }

    @Test
    void oneServiceLendsWhatThisServiceHasLeft() {
        ScriptedHistory history = history(TrustLevel.ONE_SERVICE, CHAT)
                .owner("infer-g0", new Owner.Serving(CHAT.orElseThrow()))
                .owner("infer-g1", new Owner.Serving(new ServiceId("search")))
                .tick();
        history.owner("infer-g0", LENT).decides(lend("infer-g0"));
        assertThat(broken(history)).isEmpty();

        history.owner("infer-g1", LENT).decides(lend("infer-g1"));
        assertThat(broken(history)).singleElement().asString().contains("infer-g1 is lent, which this service has");
    }

    @Test
    void oneServiceThatIsDeletedLendsNothing() {
        ScriptedHistory history = history(TrustLevel.ONE_SERVICE, Optional.empty())
                .owner("infer-g0", new Owner.Serving(CHAT.orElseThrow()))
                .tick();
        history.owner("infer-g0", LENT).decides(lend("infer-g0"));
        assertThat(broken(history)).hasSize(1);
    }

    @Test
    void aShareCountsLoansAndThoseOnTheWay() {
        ScriptedHistory history =
                history(TrustLevel.SHARE, CHAT).owner("infer-g0", LENT).owner("infer-g1", ON_THE_WAY);
        history.decides(lend("infer-g1"));
        assertThat(broken(history)).isEmpty();

        history.owner("infer-g2", ON_THE_WAY).decides(lend("infer-g2"));
        assertThat(broken(history))
                .singleElement()
                .asString()
                .contains("3 of 8 inference GPUs are lent, more than the share of 0.25");
    }

    @Test
    void allLendsAll() {
        ScriptedHistory history = history(TrustLevel.ALL, CHAT)
                .owner("infer-g0", LENT)
                .owner("infer-g1", LENT)
                .owner("infer-g2", ON_THE_WAY);
        history.decides(lend("infer-g2"));
        assertThat(broken(history)).isEmpty();
    }
}
