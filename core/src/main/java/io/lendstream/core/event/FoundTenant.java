package io.lendstream.core.event;

import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Tenant;
import java.util.List;
import java.util.Optional;

/**
 * Something that runs on a node, that Lendstream did not start, and that an actuator could manage: a declared job or
 * service claims it by its selector.
 *
 * @param user its name as agents report it as the user of GPUs, such as {@code process/4711-99}
 * @param claimedBy the jobs and services whose selectors match, in order; more than one is no claim
 * @param workers how many workers it says it has, one on each GPU; empty if it does not say
 * @param shown what it is, for people: for a process its program and script
 */
public record FoundTenant(NodeId node, String user, List<Tenant> claimedBy, Optional<Integer> workers, String shown) {
    public FoundTenant {
        claimedBy = List.copyOf(claimedBy);
    }
}
