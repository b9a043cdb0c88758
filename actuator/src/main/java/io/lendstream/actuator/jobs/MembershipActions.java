package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** The actions that the membership protocol requests of the job, in order. */
interface MembershipActions {
    void send(String worker, ObjectNode message);

    void kill(String worker);

    /** Kills a worker at a time of {@link System#nanoTime}, if it still runs. */
    void setDeadline(String worker, long nanos);

    void clearDeadline(String worker);

    /** Opens the rendezvous store of an epoch, and ends that of the previous epoch. */
    void openStore(long epoch);

    void endStore();

    /** Writes {@link Membership#state} to disk. */
    void save();

    /** Reports that workers compute in these slots. */
    void bound(List<Slot> slots);

    /** Reports that the last change is complete. */
    void settle(ChangeTimings timings);

    /** Reports that training continues after the loss of workers. */
    void recovered(List<Slot> lost, ChangeTimings timings);
}
