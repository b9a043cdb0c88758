package io.lendstream.launcher.declare;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.event.Limits;
import io.lendstream.core.event.TrainingJob;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The numbers of GPUs that a job may have: {@code 4}, or from {@code 1-8}. */
record JobGpus(int least, int most) {
    private static final Pattern TEXT = Pattern.compile("(\\d{1,9})(?:\\s*-\\s*(\\d{1,9}))?");

    static JobGpus of(TrainingJob job) {
        return new JobGpus(job.scaling().minGpus(), job.scaling().maxGpus());
    }

    /** How files have it. */
    static ValueForm<JobGpus> form() {
        long most = Limits.wholes(TrainingJob.class, "maxGpus", int.class).most();
        return new ScalarForm<>(
                "a number of GPUs such as 4, or a range such as 1-8, from 1 to %d".formatted(most),
                text -> parse(text).filter(gpus -> gpus.most <= most),
                gpus -> gpus.isRange()
                        ? JsonNodeFactory.instance.textNode(gpus.toString())
                        : JsonNodeFactory.instance.numberNode(gpus.least),
                () -> {
                    ObjectNode either = JsonNodeFactory.instance.objectNode();
                    either.putArray("oneOf")
                            .add(ScalarForms.typed("integer").put("minimum", 1).put("maximum", most))
                            .add(ScalarForms.typed("string").put("pattern", "^\\s*\\d+(\\s*-\\s*\\d+)?\\s*$"));
                    return either;
                });
    }

    /** Reads a number or a range; empty if it is neither. */
    static Optional<JobGpus> parse(String text) {
        Matcher range = TEXT.matcher(text);
        if (!range.matches()) {
            return Optional.empty();
        }
        int least = Integer.parseInt(range.group(1));
        int most = Optional.ofNullable(range.group(2)).map(Integer::parseInt).orElse(least);
        return least >= 1 && most >= least ? Optional.of(new JobGpus(least, most)) : Optional.empty();
    }

    boolean isRange() {
        return most > least;
    }

    @Override
    public String toString() {
        return isRange() ? least + "-" + most : Integer.toString(least);
    }
}
