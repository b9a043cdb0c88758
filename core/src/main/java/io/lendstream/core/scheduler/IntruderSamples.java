package io.lendstream.core.scheduler;

import io.lendstream.core.event.GpuSample;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.id.TenantUser;
import io.lendstream.core.state.ForeignUse;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Intruders;
import io.lendstream.core.state.Owner;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Finds from samples of agents who uses a unit beside its tenant. Nothing is done about it while the tenant has the
 * unit; if it leaves, the unit is not free. A user counts only if it is certainly not the tenant, which often has the
 * name of some process: see {@link #others}.
 */
record IntruderSamples(StepBuilder builder, UserRules rules) {
    private static final String POD = "kubernetes/";

    /**
     * Takes a sample of a unit of a tenant. One that does not say who uses the unit changes nothing.
     *
     * @param mayBegin whether the sample may show a new intruder, as the owner is not too new for it
     * @param units all units of the node
     */
    void take(GpuState unit, GpuSample sample, Instant at, boolean mayBegin, List<GpuState> units) {
        Optional<Intruders> known = unit.intruders();
        boolean isOfUse = sample.usedBy().isPresent() && (mayBegin || known.isPresent());
        if (!isOfUse) {
            return;
        }
        List<String> others = others(unit, sample.usedBy().get(), mayBegin, units);
        if (!others.equals(known.map(Intruders::users).orElse(List.of()))) {
            Instant since = known.map(Intruders::since).orElse(at);
            builder.describe(
                    unit.beside(others.isEmpty() ? Optional.empty() : Optional.of(new Intruders(others, since))));
        }
    }

    /**
     * The users of a unit who are certainly not its tenant: who has the name of another tenant; who is named beside the
     * name of the tenant; and who was one of them before.
     */
    private List<String> others(GpuState unit, List<String> users, boolean mayBegin, List<GpuState> units) {
        Tenant tenant = unit.owner().holder().orElseThrow();
        List<String> known = unit.intruders().map(Intruders::users).orElse(List.of());
        boolean isTenantNamed = users.stream().anyMatch(user -> isName(user, unit, tenant));
        return users.stream()
                .filter(user -> !isName(user, unit, tenant))
                .filter(user -> known.contains(user) || (mayBegin && (isTenantNamed || TenantUser.isTenant(user))))
                .filter(user -> !isOfSibling(user, unit, units))
                .distinct()
                .sorted()
                .toList();
    }

    /** Whether a user is surely the tenant of a unit. */
    private boolean isName(String user, GpuState unit, Tenant tenant) {
        return user.equals(TenantUser.of(builder.before().domain(), tenant))
                || unit.user().filter(own -> isSame(own, user)).isPresent();
    }

    /** Whether two users are one: the containers of a pod are. */
    private static boolean isSame(String one, String other) {
        return one.equals(other) || (one.startsWith(POD) && other.startsWith(POD) && pod(one).equals(pod(other)));
    }

    private static String pod(String container) {
        return container.substring(0, container.lastIndexOf('/'));
    }

    /** Whether a user is the tenant of another instance of the same GPU: not every source tells instances apart. */
    private boolean isOfSibling(String user, GpuState unit, List<GpuState> units) {
        return unit.instance().isPresent()
                && units.stream()
                        .filter(other -> other.instance()
                                .filter(each ->
                                        each.gpu().equals(unit.instance().get().gpu()))
                                .isPresent())
                        .anyMatch(other -> other.owner()
                                .holder()
                                .filter(tenant -> isName(user, other, tenant))
                                .isPresent());
    }

    /**
     * The owner of a unit that its tenant leaves: none, unless samples show up to now that others stay. A tenant among
     * them has not left when it was to.
     */
    Owner afterTenant(GpuState unit) {
        List<String> users = unit.intruders().map(Intruders::users).orElse(List.of());
        if (users.isEmpty() || !UserSamples.isHeard(builder, unit)) {
            return new Owner.Free();
        }
        return users.stream()
                .filter(TenantUser::isTenant)
                .findFirst()
                .map(tenant -> rules.quarantine(UserSamples.stillRuns(tenant)))
                .orElseGet(() -> new Owner.Quarantined(ForeignUse.by(users)));
    }

    /** Without rules for intruders none is noted: after a restart without the setting. */
    static void forget(StepBuilder builder) {
        for (GpuState unit : builder.gpus().values()) {
            if (unit.intruders().isPresent()) {
                builder.describe(unit.beside(Optional.empty()));
            }
        }
    }
}
