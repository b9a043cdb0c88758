package io.lendstream.actuator.driver;

import io.lendstream.actuator.adoption.AdoptionHost;
import io.lendstream.actuator.adoption.FoundProcess;
import io.lendstream.actuator.adoption.ProcessScan;
import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.id.Tenant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds processes that can be taken over: a process that may not be signalled would be refused again and again. */
final class ProcessFinder implements TenantFinder {
    private static final Logger LOG = LoggerFactory.getLogger(ProcessFinder.class);
    /** How many checked processes are remembered. */
    private static final int MOST_CHECKED = 10_000;

    private final ProcessScan scan;
    private final AdoptionHost host;
    private final Set<String> signalled = new HashSet<>();
    private final Set<String> warned = new HashSet<>();

    ProcessFinder(ProcessScan scan, AdoptionHost host) {
        this.scan = scan;
        this.host = host;
    }

    @Override
    public synchronized List<FoundProcess> find(Map<Tenant, AdoptionSelector> selectors) {
        host.know(selectors);
        return scan.find(selectors).stream()
                .filter(each -> !host.holds(each.user()))
                .filter(this::maySignal)
                .toList();
    }

    @Override
    public void know(Tenant tenant, AdoptionSelector selector) {
        host.know(Map.of(tenant, selector));
    }

    private boolean maySignal(FoundProcess found) {
        if (signalled.contains(found.user())) {
            return true;
        }
        Optional<String> refusal = host.signalRefusal(found.user());
        if (refusal.isEmpty()) {
            add(signalled, found.user());
            return true;
        }
        if (add(warned, found.user())) {
            LOG.warn(
                    "{} ({}), which {} claim, stays foreign: {}",
                    found.user(),
                    found.shown(),
                    found.claimedBy(),
                    refusal.get());
        }
        return false;
    }

    private static boolean add(Set<String> names, String name) {
        if (names.size() >= MOST_CHECKED) {
            names.clear();
        }
        return names.add(name);
    }

    @Override
    public Optional<String> complaint(AdoptionSelector selector) {
        return ProcessScan.complaint(selector);
    }
}
