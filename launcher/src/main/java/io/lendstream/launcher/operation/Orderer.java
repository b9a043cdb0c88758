package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Origin;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.util.Optional;

/**
 * Who ordered something, and how that is known. The name in a command is whatever its writer says; that the writer is of a group
 * is known where the command came by the group's own topic, which the broker lets only the group write to.
 *
 * @param issuer the name in the command
 * @param group whose topic it came by; empty where it came by the base topic, which says nothing of its writer
 */
record Orderer(String issuer, Optional<String> group, String topic) {
    /** Who gave a command that is in the log. */
    static Orderer of(ControlCommand command, Optional<Origin> origin, TopicCatalogue topics) {
        String topic = origin.map(Origin::topic).orElse("");
        return new Orderer(command.issuer(), topics.intakeOf(topic), topic);
    }

    /** The same of an event that may be something else. */
    static Optional<Orderer> of(DomainEvent event, TopicCatalogue topics) {
        return event.event().asCommand().map(command -> of(command, event.origin(), topics));
    }

    /** For people: {@code ordered by alice (group oncall, topic lendstream.control.oncall)}. */
    String inWords() {
        return group.map(name -> "ordered by %s (group %s, topic %s)".formatted(issuer, name, topic))
                .orElseGet(() -> "ordered by %s (not authenticated)".formatted(issuer));
    }

    /** For tools. */
    void put(ObjectNode json) {
        ObjectNode one = json.putObject("orderedBy");
        one.put("issuer", issuer).put("authenticated", group.isPresent()).put("topic", topic);
        group.ifPresent(name -> one.put("group", name));
    }
}
