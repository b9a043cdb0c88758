package io.lendstream.launcher.declare;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Tenant;
import io.lendstream.launcher.declare.DeclaredTopics.Written;
import io.lendstream.service.kafka.RecordWriter;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What {@code apply} does with one object.
 *
 * @param after its new record
 * @param differences from its newest record in the topic; empty for a new object
 */
record ObjectChange<T extends Event>(DeclaredObject<T> object, T after, Outcome outcome, List<Difference> differences) {
    /** What happens to the object. */
    enum Outcome {
        CREATED("created"),
        CHANGED("changed"),
        UNCHANGED("unchanged"),
        RETRIED("retried");

        private final String word;

        Outcome(String word) {
            this.word = word;
        }
    }

    /**
     * Compares an object with its newest record.
     *
     * @throws io.lendstream.launcher.cli.UserError if it may not replace that record
     */
    static <T extends Event> ObjectChange<T> of(
            DeclaredObject<T> object, Optional<Written<T>> before, String target, Instant now) {
        if (before.isEmpty()) {
            return new ObjectChange<>(object, object.record(now, Optional.empty()), Outcome.CREATED, List.of());
        }
        T known = before.get().value();
        check(object, before.get(), target);
        if (object.kind().isRemoved(known)) {
            return new ObjectChange<>(object, object.record(now, Optional.empty()), Outcome.CREATED, List.of());
        }
        T same = object.record(known.at(), Optional.of(known));
        if (same.equals(known)) {
            return new ObjectChange<>(object, known, Outcome.UNCHANGED, List.of());
        }
        T after = object.record(now, Optional.of(known));
        JsonNode old = object.kind().spec().write(known);
        List<Difference> differences =
                Difference.between(old, object.kind().spec().write(after));
        return new ObjectChange<>(object, after, Outcome.CHANGED, differences);
    }

    private static void check(DeclaredObject<?> object, Written<?> before, String target) {
        Event known = (Event) before.value();
        if (!known.domain().equals(object.name().domain())) {
            throw object.place()
                    .bad(
                            "metadata.domain is %s, but %s is in domain %s, which keeps it. Change it back, or choose another name."
                                    .formatted(object.name().domain(), object.shown(), known.domain()));
        }
        if (!before.isIn(target)) {
            throw object.place()
                    .bad(
                            "%s was written to topic %s, but this command writes to %s. Set the intake of its writers with --set intake=NAME, or choose another name."
                                    .formatted(object.shown(), before.origin().topic(), target));
        }
    }

    /** The job or service whose declaration would stay as it is; empty for other changes and objects. */
    Optional<Tenant> unchanged() {
        return outcome != Outcome.UNCHANGED
                ? Optional.empty()
                : after.asJob()
                        .<Tenant>map(job -> new Tenant.Job(job.job()))
                        .or(() -> after.asService().map(service -> new Tenant.Service(service.service())));
    }

    /** The job that would be new; empty for other changes and objects. */
    Optional<JobId> newJob() {
        return outcome == Outcome.CREATED ? after.asJob().map(TrainingJob::job) : Optional.empty();
    }

    /** The same record again, which has the scheduler try the program at once. */
    ObjectChange<T> again() {
        return new ObjectChange<>(object, after, Outcome.RETRIED, List.of());
    }

    /** Whether a record has to be written. */
    boolean isDue() {
        return outcome != Outcome.UNCHANGED;
    }

    void write(RecordWriter writer) {
        writer.write(object.kind().topic(), object.name().value(), after);
    }

    /** The change for people. */
    String inWords(boolean dryRun) {
        String changed = outcome == Outcome.RETRIED
                ? "unchanged, but its program could not be run"
                : differences.stream().map(Difference::inWords).collect(Collectors.joining(", "));
        return "%s %s%s%s"
                .formatted(
                        object.shown(),
                        outcome.word,
                        changed.isEmpty() ? "" : " (" + changed + ")",
                        dryRun && isDue() ? " (dry run: not written)" : "");
    }

    /** The change for tools. */
    ObjectNode json(boolean dryRun) {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("kind", object.kind().name())
                .put("name", object.name().value())
                .put("domain", object.name().domain().value())
                .put("outcome", outcome.word)
                .put("written", isDue() && !dryRun);
        ArrayNode changes = json.putArray("changes");
        differences.forEach(difference -> {
            ObjectNode each = changes.addObject().put("field", difference.path());
            Difference.known(difference.before()).ifPresent(value -> each.set("before", value));
            Difference.known(difference.after()).ifPresent(value -> each.set("after", value));
        });
        return json;
    }
}
