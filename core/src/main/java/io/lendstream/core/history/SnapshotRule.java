package io.lendstream.core.history;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** A snapshot is the state that the log gives after its event, with the scheduler in office then. */
final class SnapshotRule implements HistoryRule {
    private final Violations violations;
    private final Map<Long, Snapshot> expected = new HashMap<>();

    SnapshotRule(Violations violations) {
        this.violations = violations;
    }

    void expect(Snapshot snapshot) {
        expected.put(snapshot.sequence(), snapshot);
    }

    @Override
    public void settled(ReplayedEvent replayed) {
        Optional.ofNullable(expected.remove(replayed.event().sequence()))
                .ifPresent(snapshot -> compare(snapshot, replayed));
    }

    private void compare(Snapshot snapshot, ReplayedEvent replayed) {
        if (!snapshot.scheduler().equals(replayed.scheduler().inOffice(replayed.state()))) {
            violations.add(
                    Rule.SNAPSHOT,
                    "the snapshot of event %d names the scheduler %s, but the log gives %s"
                            .formatted(
                                    snapshot.sequence(),
                                    snapshot.scheduler(),
                                    replayed.scheduler().inOffice(replayed.state())));
        }
        if (!snapshot.state().equals(replayed.state())) {
            violations.add(
                    Rule.SNAPSHOT,
                    "the snapshot of event %d differs from the state that the log gives: %s"
                            .formatted(
                                    snapshot.sequence(),
                                    String.join(", ", StateDifference.of(snapshot.state(), replayed.state()))));
        }
    }
}
