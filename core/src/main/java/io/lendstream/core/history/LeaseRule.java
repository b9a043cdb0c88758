package io.lendstream.core.history;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Lease;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The published leases equal the leases that the log gives. */
final class LeaseRule implements HistoryRule {
    private final DomainId domain;
    private final Violations violations;
    private final Map<GpuId, Lease> owners = new HashMap<>();

    LeaseRule(DomainId domain, Violations violations) {
        this.domain = domain;
        this.violations = violations;
    }

    @Override
    public void settled(ReplayedEvent replayed) {
        for (GpuId gpu : replayed.changed().owners()) {
            Optional<GpuState> next = replayed.state().gpus().get(gpu);
            if (next.isPresent()) {
                owners.put(gpu, next.get().lease(domain, replayed.state().epoch()));
            } else {
                owners.remove(gpu);
            }
        }
    }

    @Override
    public void end(HistoryEnd end) {
        Map<GpuId, Lease> latest = new HashMap<>();
        end.leases().forEach(lease -> latest.put(lease.gpuId(), lease));
        owners.forEach((gpu, lease) -> {
            Lease published = latest.get(gpu);
            if (!lease.equals(published)) {
                violations.add(
                        Rule.LEASES, "%s is published as %s, but the log gives %s".formatted(gpu, published, lease));
            }
        });
    }
}
