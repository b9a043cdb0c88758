package io.lendstream.actuator.adoption;

import io.lendstream.core.id.Tenant;
import java.util.List;
import java.util.Optional;

/**
 * A process that something else has started, and that declared tenants claim.
 *
 * @param user its name as the agent of this machine reports it
 * @param claimedBy the tenants whose selectors match it or a process that it has started; one of them matches it
 * @param workers how many workers it says it has; empty if it does not say
 * @param shown its program and script, for people
 */
public record FoundProcess(String user, List<Tenant> claimedBy, Optional<Integer> workers, String shown) {
    public FoundProcess {
        claimedBy = List.copyOf(claimedBy);
    }
}
