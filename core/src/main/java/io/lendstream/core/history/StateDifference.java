package io.lendstream.core.history;

import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.state.ClusterState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The names of the parts in which two states differ, for people. */
final class StateDifference {
    private static final int MOST = 5;

    private final List<String> names = new ArrayList<>();

    private StateDifference() {}

    static List<String> of(ClusterState one, ClusterState other) {
        StateDifference difference = new StateDifference();
        difference.compare("position", one.position(), other.position());
        difference.compare("time of the next plan", one.nextPlanAt(), other.nextPlanAt());
        difference.compare("mode", one.mode(), other.mode());
        difference.compare("pacing", one.pacing(), other.pacing());
        difference.compare("plan of MIG instances", one.slices(), other.slices());
        difference.compare("advice", one.advice(), other.advice());
        difference.compare("promises", one.promises(), other.promises());
        difference.compare("recent loans", one.loanStarts(), other.loanStarts());
        difference.compareAll("node", one.nodes(), other.nodes());
        difference.compareAll("GPU", one.gpus(), other.gpus());
        difference.compareAll("service", one.services(), other.services());
        difference.compareAll("job", one.jobs(), other.jobs());
        difference.compareAll("queue", one.queues(), other.queues());
        difference.compareAll("actuator", one.actuators(), other.actuators());
        List<String> names = difference.names;
        return names.size() <= MOST
                ? names
                : List.of(String.join(", ", names.subList(0, MOST)) + " and " + (names.size() - MOST) + " more");
    }

    private void compare(String name, Object one, Object other) {
        if (!one.equals(other)) {
            names.add(name);
        }
    }

    private <K extends Comparable<? super K>, V> void compareAll(
            String kind, PersistentMap<K, V> one, PersistentMap<K, V> other) {
        for (Map.Entry<K, V> entry : one) {
            if (!Optional.of(entry.getValue()).equals(other.get(entry.getKey()))) {
                names.add(kind + " " + entry.getKey());
            }
        }
        for (Map.Entry<K, V> entry : other) {
            if (!one.contains(entry.getKey())) {
                names.add(kind + " " + entry.getKey());
            }
        }
    }
}
