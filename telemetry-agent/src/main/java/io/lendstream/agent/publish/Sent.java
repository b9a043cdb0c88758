package io.lendstream.agent.publish;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.RecordTooLargeException;

/** The sent records of a batch, in order; empty for a dropped record. */
final class Sent {
    private final List<Optional<Answer>> answers = new ArrayList<>();
    private int looked;

    /** The pending result of a record of this topic. */
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
     * Whether any record is known to have failed, by the newest result and the oldest available ones. Kafka's client
     * reports in the result, not by an exception, that it refused a record for lack of memory or of the topic's
     * metadata.
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

    /** Whether the record will never be accepted: it is dropped, and the others continue. */
    static boolean isRefusal(ExecutionException failure) {
        return failure.getCause() instanceof RecordTooLargeException;
    }
}
