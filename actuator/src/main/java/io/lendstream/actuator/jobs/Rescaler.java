package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;

/** How a job comes to run where its target says: in place, or by a restart. Called on the host's one thread. */
interface Rescaler {
    /** Takes over the workers that an earlier node process has left. */
    void adopt(JobFile file);

    /** Does what can be done next, which may be nothing. */
    void advance();

    void heard(Worker worker, String type, JsonNode message);

    /** No process of a worker is left; it is no longer among the job's workers. */
    void gone(Worker worker);

    /** Whether a worker can simply be ended when its slot is taken, because it does not train yet. */
    boolean isDispensable(Worker worker);

    /** What the job's file says of the membership. */
    MembershipState state();

    /** Answers a request of a worker to the rendezvous store. */
    void askStore(JsonNode request, ByteBuffer body, EpochStore.Answer answer);

    /** Gives up on requests to the rendezvous store whose time is over. */
    void expireStore(long nowNanos);
}
