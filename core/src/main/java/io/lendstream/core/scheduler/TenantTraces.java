package io.lendstream.core.scheduler;

import io.lendstream.core.event.GpuSample;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.id.TenantUser;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Intruders;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.SeenUsers;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Remembers under which names agents show the tenant of a unit, also where these do not tell whose they are: a name
 * that is still shown after the release is the tenant's, and no stranger's. Where samples name the tenant itself that
 * name suffices, and any other one there is an intruder's. Drivers that do not choose units are left out: a name on a
 * unit may be that of a tenant with another one.
 */
record TenantTraces(StepBuilder builder, UserRules rules) {
    /**
     * Takes a sample of a unit on which a tenant runs.
     *
     * @param all the samples of the node
     */
    void take(GpuState unit, GpuSample sample, Map<GpuId, GpuSample> all) {
        List<String> users = sample.usedBy().orElse(List.of());
        if (users.isEmpty()
                || !rules.remembers()
                || !unit.owner().isUp()
                || unit.slot().isPresent()) {
            return;
        }
        Tenant tenant = unit.owner().holder().orElseThrow();
        Optional<SeenUsers> known =
                unit.history().seen().filter(seen -> seen.tenant().equals(tenant));
        String own = TenantUser.of(builder.before().domain(), tenant);
        SeenUsers next = users.contains(own)
                ? new SeenUsers(tenant, List.of(own))
                : known.filter(seen -> seen.has(own))
                        .orElseGet(() -> known.orElseGet(() -> new SeenUsers(tenant, List.of()))
                                .and(possible(unit, users, all)));
        if (!next.users().isEmpty() && !known.equals(Optional.of(next))) {
            builder.put(unit.seen(Optional.of(next)));
        }
    }

    /** The users that may be the tenant: none is known as another one, or shown on another instance of its GPU. */
    private List<String> possible(GpuState unit, List<String> users, Map<GpuId, GpuSample> all) {
        List<String> intruders = unit.intruders().map(Intruders::users).orElse(List.of());
        return users.stream()
                .filter(user -> !TenantUser.isTenant(user) && !intruders.contains(user))
                .filter(user -> unit.instance()
                        .filter(part -> isBeside(unit, part, user, all))
                        .isEmpty())
                .toList();
    }

    /** Whether a user is shown on another instance of a GPU too: not every source tells instances apart. */
    private boolean isBeside(GpuState unit, MigInstance part, String user, Map<GpuId, GpuSample> all) {
        return all.values().stream()
                .filter(other -> !other.gpuId().equals(unit.gpuId()))
                .filter(other -> other.usedBy().orElse(List.of()).contains(user))
                .anyMatch(other -> builder.gpus()
                        .get(other.gpuId())
                        .flatMap(GpuState::instance)
                        .filter(sibling -> sibling.gpu().equals(part.gpu()))
                        .isPresent());
    }

    /** Why a unit that is not given away has its last tenant still, by its users; empty if nothing says so. */
    Optional<String> outlived(GpuState unit, List<String> users) {
        return rules.remembers()
                ? unit.history()
                        .seen()
                        .flatMap(seen -> users.stream()
                                .filter(seen::has)
                                .findFirst()
                                .map(user -> UserSamples.stillRuns(
                                        user, "was there while %s had it".formatted(seen.tenant()))))
                : Optional.empty();
    }
}
