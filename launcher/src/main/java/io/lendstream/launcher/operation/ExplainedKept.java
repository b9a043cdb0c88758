package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.history.KeptInput;
import io.lendstream.core.history.KeptReason;
import io.lendstream.core.policy.Alternative;
import io.lendstream.service.text.Times;
import java.util.List;
import java.util.Optional;

/**
 * What was kept with a decision whose log cannot be replayed.
 *
 * @param begins the first event of the domain that the log still has; empty if it has none
 */
record ExplainedKept(KeptReason reason, Optional<DomainEvent> begins) {
    List<Alternative> alternatives() {
        return reason.alternatives();
    }

    /** Whether an event that led to the decision was kept. */
    boolean has(long sequence) {
        return reason.inputs().stream().anyMatch(input -> input.sequence() == sequence);
    }

    /** Adds the events that the log does not have any more. */
    void addInputs(List<String> lines, List<DomainEvent> inLog) {
        for (KeptInput input : reason.inputs()) {
            if (inLog.stream().noneMatch(event -> event.sequence() == input.sequence())) {
                lines.add("  %d  %s  %s%s  %s"
                        .formatted(
                                input.sequence(),
                                Times.exact(input.at()),
                                input.kind(),
                                input.origin().map(origin -> "  " + origin).orElse(""),
                                input.gist()));
            }
        }
    }

    private String why() {
        boolean isGone = begins.filter(first -> reason.decision()
                        .map(decision ->
                                decision.reason().inputs().stream().anyMatch(input -> input < first.sequence()))
                        .orElse(false))
                .isPresent();
        return begins.map(first -> "the log begins at %s, event %d%s"
                        .formatted(
                                Times.exact(first.at()),
                                first.sequence(),
                                isGone ? ", after this decision or events it rests on" : ""))
                .orElse("the log of the domain is gone");
    }

    String verdict() {
        return "not replayed: %s. The reason, its numbers, the best alternatives and the events are as they were kept with the decision."
                .formatted(why());
    }

    void put(ObjectNode json) {
        ExplainedAlternatives.put(json.putArray("alternatives"), reason.alternatives());
        ArrayNode inputs = json.putArray("inputsKept");
        reason.inputs().forEach(input -> {
            ObjectNode one = inputs.addObject();
            one.put("sequence", input.sequence())
                    .put("at", input.at().toString())
                    .put("kind", input.kind())
                    .put("gist", input.gist());
            input.origin()
                    .ifPresent(origin -> one.putObject("origin")
                            .put("topic", origin.topic())
                            .put("partition", origin.partition())
                            .put("offset", origin.offset()));
        });
        json.put("notReplayed", why());
    }
}
