package io.lendstream.agent.gpu.nvml;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Collects the problems of one read as text for operators. */
final class Troubles {
    private static final int SHOWN = 4;

    private final Map<String, Set<String>> callsByTrouble = new TreeMap<>();
    private final List<String> said = new ArrayList<>();

    void tell(String gpu, String function, Code code) {
        switch (code.meaning()) {
            case FORBIDDEN ->
                callsByTrouble
                        .computeIfAbsent(gpu + ": the driver forbids this user", added -> new TreeSet<>())
                        .add(function);
            case TROUBLE ->
                callsByTrouble
                        .computeIfAbsent(gpu + ": " + code, added -> new TreeSet<>())
                        .add(function);
            default -> {} // no message, or the catcher reports it
        }
    }

    void say(String trouble) {
        said.add(trouble);
    }

    List<String> all() {
        var all = new ArrayList<>(said);
        callsByTrouble.forEach((trouble, calls) -> {
            List<String> some = calls.stream().limit(SHOWN).toList();
            int more = calls.size() - some.size();
            all.add(trouble + " " + String.join(", ", some) + (more > 0 ? " and %d more".formatted(more) : ""));
        });
        return all;
    }

    void clear() {
        callsByTrouble.clear();
        said.clear();
    }
}
