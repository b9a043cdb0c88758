package io.lendstream.core.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.Owner;
import java.util.List;
import org.junit.jupiter.api.Test;

class InvariantsTest {
    private static final DecisionId DECISION = new DecisionId(Scenario.DOMAIN, 1, 1);
    private static final Owner LENT = new Owner.Lent(new JobId("a"), DECISION, Scenario.START.plusSeconds(600));
    private static final Owner TRAINING = new Owner.Training(new JobId("a"));
    private static final Owner FREE = new Owner.Free();

    private static List<String> broken(ScriptedHistory history) {
        return Invariants.check(history.tick().state()).stream()
                .map(Violation::toString)
                .toList();
    }

    @Test
    void aJobTrainsOnSeveralWholeGpusOrOnOneInstance() {
        assertThat(broken(new ScriptedHistory()
                        .gpu("train-g0", Pool.TRAINING, TRAINING)
                        .gpu("infer-g0", Pool.INFERENCE, LENT)
                        .job("a", 2, "train-g0", "infer-g0")))
                .isEmpty();
        assertThat(broken(new ScriptedHistory().instance("cut-g0/0:4", LENT).job("a", 1, "cut-g0/0:4")))
                .isEmpty();
    }

    @Test
    void aJobDoesNotTrainOnAnInstanceBesideAnotherUnit() {
        assertThat(broken(new ScriptedHistory()
                        .gpu("train-g0", Pool.TRAINING, TRAINING)
                        .instance("cut-g0/0:4", LENT)
                        .job("a", 2, "train-g0", "cut-g0/0:4")))
                .containsExactly("instances: job a is to train on several units, one of them a MIG instance: "
                        + "[cut-g0/0:4, train-g0]");
    }

    @Test
    void instancesThatShareMemoryAreNotBothGiven() {
        assertThat(broken(new ScriptedHistory()
                        .instance("cut-g0/0:4", FREE)
                        .instance("cut-g0/3:2", FREE)
                        .instance("cut-g0/5:3", FREE)
                        .instance("cut-g1/0:8", FREE)))
                .containsExactly("instances: 3g.40gb@3 of cut-g0 and 3g.40gb@0 of cut-g0 overlap");
    }

    @Test
    void anInstanceThatIsBeingCutOrOutOfServiceMayOverlapOthers() {
        Owner recutting = new Owner.Recutting(DECISION, Scenario.START.plusSeconds(45), true);

        assertThat(broken(new ScriptedHistory()
                        .instance("cut-g0/0:4", FREE)
                        .instance("cut-g0/3:2", recutting)
                        .instance("cut-g0/2:2", new Owner.Quarantined("XID 79"))))
                .isEmpty();
    }

    @Test
    void aGpuIsNotGivenAsAWholeWhileItIsCut() {
        assertThat(broken(new ScriptedHistory()
                        .gpu("cut-g0", Pool.INFERENCE, FREE)
                        .instance("cut-g0/0:4", FREE)))
                .containsExactly("instances: cut-g0 can be given as a whole and in instances");
    }
}
