package io.lendstream.agent.publish;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.RecordTooLargeException;

/** What was sent of a batch, in order; empty for a record that was dropped. */
final class Sent {
    private final List<Optional<Answer>> answers = new ArrayList<>();
    private int looked;

    /** What will be known of a record of this topic. */
    record Answer(String topic, Future<RecordMetadata> coming) {}

    void add(Optional<Answer> answer) {
        answers.add(answer);
    }

    int count() {
        return answers.size();
    }

    Optional<Answer> at(int place) {
        return answers.get(place);
    }

    /**
     * Whether any is known to have failed, by the newest answer and the oldest ones that are there. Kafka's client says in the answer,
     * and not by throwing, that it did not take a record: for want of room, or of the topic's metadata.
     */
    boolean hasFailed() throws InterruptedException {
        while (looked < answers.size() && isDone(answers.get(looked))) {
            if (hasFailed(answers.get(looked))) {
                return true;
            }
            looked++;
        }
        return !answers.isEmpty() && hasFailed(answers.get(answers.size() - 1));
    }

    private static boolean isDone(Optional<Answer> answer) {
        return answer.isEmpty() || answer.get().coming().isDone();
    }

    private static boolean hasFailed(Optional<Answer> answer) throws InterruptedException {
        if (answer.isEmpty() || !answer.get().coming().isDone()) {
            return false;
        }
        try {
            answer.get().coming().get();
            return false;
        } catch (ExecutionException e) {
            return !isRefusal(e);
        }
    }

    /** Whether the record will never be taken: it is dropped, and the others go on. */
    static boolean isRefusal(ExecutionException failure) {
        return failure.getCause() instanceof RecordTooLargeException;
    }
}
