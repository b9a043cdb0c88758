package io.lendstream.core.scheduler;

import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import java.util.Map;
import java.util.Optional;

/**
 * Whether a job can run, or end by its hard deadline.
 *
 * @param share GPUs that have to be left for it
 * @param kind the kind of these GPUs
 * @param queue the queue whose quota is too small for it
 * @param why the cause, as the end of a sentence
 */
record AdmissionAnswer(
        boolean possible,
        int share,
        Optional<KindId> kind,
        Optional<QueueId> queue,
        String why,
        Map<String, Double> numbers) {
    /** A job that can run, and for which no GPUs have to be left. */
    static AdmissionAnswer yes(String why, Map<String, Double> numbers) {
        return new AdmissionAnswer(true, 0, Optional.empty(), Optional.empty(), why, numbers);
    }

    /** A job that can run or end in time with GPUs of one kind. */
    static AdmissionAnswer yes(KindRoom room, int share, String why, Map<String, Double> numbers) {
        return new AdmissionAnswer(true, share, room.kind(), Optional.empty(), why, numbers);
    }

    static AdmissionAnswer no(String why, Map<String, Double> numbers) {
        return no(Optional.empty(), why, numbers);
    }

    static AdmissionAnswer no(Optional<QueueId> queue, String why, Map<String, Double> numbers) {
        return new AdmissionAnswer(false, 0, Optional.empty(), queue, why, numbers);
    }
}
