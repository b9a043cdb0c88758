package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Origin;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.util.Optional;

/**
 * The operator behind a command. The name in a command is not authenticated. The group is: only its members may write
 * to the topic of the group.
 *
 * @param issuer the name in the command
 * @param group the group whose topic carried the command; empty for the common topic
 */
record Orderer(String issuer, Optional<String> group, String topic) {
    /** The operator behind a command in the log. */
    static Orderer of(ControlCommand command, Optional<Origin> origin, TopicCatalogue topics) {
        String topic = origin.map(Origin::topic).orElse("");
        return new Orderer(command.issuer(), topics.intakeOf(topic), topic);
    }

    /** The operator behind an event; empty if the event is no command. */
    static Optional<Orderer> of(DomainEvent event, TopicCatalogue topics) {
        return event.event().asCommand().map(command -> of(command, event.origin(), topics));
    }

    /** A text for people, such as {@code ordered by alice (group oncall, topic lendstream.control.oncall)}. */
    String inWords() {
        return "ordered by " + name();
    }

    /** The name with its proof, such as {@code alice (not authenticated)}. */
    String name() {
        return group.map(name -> "%s (group %s, topic %s)".formatted(issuer, name, topic))
                .orElseGet(() -> issuer + " (not authenticated)");
    }

    /** Puts the operator into a JSON object. */
    void put(ObjectNode json) {
        ObjectNode one = json.putObject("orderedBy");
        one.put("issuer", issuer).put("authenticated", group.isPresent()).put("topic", topic);
        group.ifPresent(name -> one.put("group", name));
    }
}
