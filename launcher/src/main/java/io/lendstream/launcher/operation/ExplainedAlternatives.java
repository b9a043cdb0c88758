package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.policy.Alternative;
import java.util.List;

/** The changes that a policy weighed, for people and for tools. */
final class ExplainedAlternatives {
    private ExplainedAlternatives() {}

    static void add(List<String> lines, List<Alternative> weighed) {
        if (!weighed.isEmpty()) {
            boolean areLoans = !weighed.get(0).gpus().isEmpty();
            String order = areLoans ? "the chosen ones first, then the others, least first" : "from the smallest size";
            lines.add("");
            lines.add("Alternatives, by %s; %s:".formatted(weighed.get(0).measure(), order));
            weighed.forEach(one -> lines.add("  " + line(one)));
        }
    }

    private static String line(Alternative weighed) {
        String what = weighed.gpus().isEmpty()
                ? "%s for job %s".formatted(Reason.counted(weighed.size(), "GPU"), weighed.job())
                : "%s of job %s, which keeps %d"
                        .formatted(EventText.list(weighed.gpus()), weighed.job(), weighed.size());
        return "%s %s: %.3f, %s".formatted(weighed.chosen() ? "+" : "-", what, weighed.score(), weighed.why());
    }

    static void put(ArrayNode alternatives, List<Alternative> all) {
        all.forEach(weighed -> {
            ObjectNode one = alternatives.addObject();
            one.put("job", weighed.job().value())
                    .put("size", weighed.size())
                    .put("score", weighed.score())
                    .put("measure", weighed.measure())
                    .put("chosen", weighed.chosen())
                    .put("why", weighed.why())
                    .set("gpus", Explained.names(weighed.gpus()));
        });
    }
}
