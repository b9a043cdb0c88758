package io.lendstream.actuator.driver;

import io.lendstream.actuator.adoption.FoundProcess;
import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.id.Tenant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Finds what runs already on this machine, though Lendstream did not start it. */
public interface TenantFinder {
    /**
     * All that the selectors claim and that was not taken over yet. It may take a second, so it is called from a thread
     * of its own.
     */
    List<FoundProcess> find(Map<Tenant, AdoptionSelector> selectors);

    /** Learns a selector, before anything is found by it: nothing else of its tenant is taken over from now on. */
    void know(Tenant tenant, AdoptionSelector selector);

    /** Why a selector claims nothing, with the way out; empty without a fault. */
    Optional<String> complaint(AdoptionSelector selector);
}
