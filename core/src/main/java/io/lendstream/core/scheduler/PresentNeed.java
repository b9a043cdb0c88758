package io.lendstream.core.scheduler;

import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ServiceState;
import java.util.List;

/**
 * What a service with replicas of single GPUs has, and what it needs for the requests there are, whatever is expected.
 *
 * @param needed replicas for its present load, with those for a missed SLO; at least its floor
 * @param lately replicas for its greatest load within the time that a replica takes to come back; 0 if it has no more
 *     up than it needs
 * @param up the GPUs of its replicas that work or rest; it can do without the last ones first
 * @param others its replicas that start or sleep
 * @param isKnown whether its rates are fresh. If not, it keeps what it has, and asks for its floor only
 */
record PresentNeed(ServiceState service, int needed, int lately, List<GpuState> up, int others, boolean isKnown) {
    PresentNeed {
        up = List.copyOf(up);
    }

    ServiceId name() {
        return service.spec().service();
    }

    /** The replicas that it keeps although others wait. */
    int kept() {
        int most = Math.max(needed, lately);
        return isKnown ? most : Math.max(most, up.size());
    }

    /** The replicas that it asks for. */
    int asked() {
        return isKnown ? needed : Math.min(needed, service.spec().floorReplicas());
    }

    /** The replicas that it gets or keeps if no service gets more than so many beyond its floor. */
    int atMost(int level) {
        int floor = service.spec().floorReplicas();
        int gets = Math.max(Math.min(asked(), level), Math.min(asked(), floor));
        return isKnown ? gets : Math.max(gets, up.size());
    }

    /** The replicas that it asks for, or keeps whatever others ask for. */
    int claimed() {
        return atMost(Integer.MAX_VALUE);
    }

    /** Its replicas in whatever state. */
    int has() {
        return up.size() + others;
    }
}
