package io.lendstream.core.policy;

import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The reason for a job's change in a plan. Most changes of a plan become no decision, so a policy can put off its words
 * until someone reads them: see {@link #later}.
 */
public final class PlanReason {
    /** The words and numbers; they must depend on nothing that changes after the plan. */
    private final Supplier<Content> source;

    private Optional<Content> content = Optional.empty();

    private record Content(String text, Map<String, Double> numbers) {}

    /**
     * A reason.
     *
     * @param text a sentence for operators that begins with the job's name
     * @param numbers the numbers of the sentence, by name
     */
    public PlanReason(String text, Map<String, Double> numbers) {
        var given = new Content(text, Collections.unmodifiableSortedMap(new TreeMap<>(numbers)));
        source = () -> given;
    }

    private PlanReason(Supplier<PlanReason> later) {
        source = () -> later.get().content();
    }

    /** A reason that is put into words when it is read. */
    public static PlanReason later(Supplier<PlanReason> reason) {
        return new PlanReason(reason);
    }

    /** A sentence for operators that begins with the job's name. */
    public String text() {
        return content().text;
    }

    /** The numbers of the sentence, by name. */
    public Map<String, Double> numbers() {
        return content().numbers;
    }

    private Content content() {
        if (content.isEmpty()) {
            content = Optional.of(source.get());
        }
        return content.get();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PlanReason reason && content().equals(reason.content());
    }

    @Override
    public int hashCode() {
        return content().hashCode();
    }

    @Override
    public String toString() {
        return text() + " " + numbers();
    }
}
