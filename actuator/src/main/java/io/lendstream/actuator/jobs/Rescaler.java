package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;

/** Brings a job to its target: in place, or by a restart. Called on the host's single thread. */
interface Rescaler {
    /** Takes over the workers of an earlier node process. */
    void adopt(JobFile file);

    /** Does the next possible steps, if there are any. */
    void advance();

    void heard(Worker worker, String type, JsonNode message);

    /** Handles the end of a worker's last process; it is no longer among the job's workers. */
    void gone(Worker worker);

    /** Whether a worker can simply be killed when its slot is taken, because it does not train yet. */
    boolean isDispensable(Worker worker);

    /** The membership part of the job's file. */
    MembershipState state();

    /** Answers a worker's request to the rendezvous store. */
    void askStore(JsonNode request, ByteBuffer body, EpochStore.Answer answer);

    /** Fails requests to the rendezvous store that have timed out. */
    void expireStore(long nowNanos);
}
