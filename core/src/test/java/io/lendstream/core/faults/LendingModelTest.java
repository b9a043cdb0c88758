package io.lendstream.core.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.seeds.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Schedulers and actuators keep their promises whatever is done to them and between them. A usual build goes through a
 * thousand ordeals; {@code -Dseeds.count=10000}, as {@code ./dev faults} has it, through more.
 */
@Tag("long")
class LendingModelTest {
    private static final long RUNS_PER_BUG = 100;

    @Seeds(400)
    void promisesAreKeptWhateverHappens(long seed) {
        FaultScenario ordeal = new FaultScenario(seed, Bug.NONE).endured();

        assertThat(ordeal.broken()).as("what really ran, seed %d", seed).isEmpty();
        assertThat(ordeal.violations()).as("recorded history, seed %d", seed).isEmpty();
    }

    @Test
    void anOrdealIsOne() {
        List<FaultScenario> ordeals = LongStream.range(0, 110)
                .mapToObj(seed -> new FaultScenario(seed, Bug.NONE).endured())
                .toList();

        assertThat(ordeals.stream().mapToInt(FaultScenario::takenUp).sum()).isGreaterThan(2300);
        assertThat(ordeals.stream().mapToInt(FaultScenario::takeovers).sum()).isGreaterThan(300);
        assertThat(ordeals.stream().mapToInt(FaultScenario::refused).sum()).isGreaterThan(450);
        assertThat(ordeals.stream().mapToInt(FaultScenario::drifts).sum()).isGreaterThan(10);
    }

    @Test
    void aBindBeforeTheReleaseIsSeen() {
        assertNoticed(Bug.BIND_BEFORE_RELEASE, "two at once", "bind before release");
    }

    @Test
    void aLostFenceIsSeen() {
        assertNoticed(Bug.LOST_FENCE, "fence", "fence");
    }

    @Test
    void aDecisionAppliedTwiceIsSeen() {
        assertNoticed(Bug.DOUBLE_APPLY, "once", "applied twice");
    }

    @Test
    void aLostReportIsSeen() {
        assertNoticed(Bug.LOST_REPORT, "nothing wasted", "reports");
    }

    @Test
    void aReusedEpochIsSeen() {
        assertNoticed(Bug.REUSED_EPOCH, "one name, one decision", "epoch");
    }

    /** By what really happened; and from the record alone, too, wherever it has all reports. */
    private static void assertNoticed(Bug bug, String promise, String rule) {
        List<FaultScenario> struck = new ArrayList<>();
        for (long seed = 0; seed < RUNS_PER_BUG; seed++) {
            FaultScenario ordeal = new FaultScenario(seed, bug).endured();
            if (ordeal.broken().stream().anyMatch(how -> how.startsWith(promise))) {
                struck.add(ordeal);
            }
        }

        assertThat(struck).as("runs in which %s did harm", bug).isNotEmpty();
        assertThat(struck)
                .filteredOn(ordeal -> !ordeal.losesMessages())
                .isNotEmpty()
                .allSatisfy(ordeal -> assertThat(ordeal.violations())
                        .as("what was broken: %s", ordeal.broken())
                        .isNotEmpty());
        assertThat(struck)
                .anySatisfy(ordeal -> assertThat(ordeal.violations())
                        .anySatisfy(violation -> assertThat(violation.rule()).isEqualTo(rule)));
    }
}
