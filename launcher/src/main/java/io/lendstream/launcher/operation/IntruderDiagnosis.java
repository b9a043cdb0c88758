package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.state.Lease;
import io.lendstream.launcher.cli.GpuNames;
import java.util.Collection;
import java.util.List;

/** Those who use GPUs beside the tenants that have them, by the leases. */
final class IntruderDiagnosis {
    private IntruderDiagnosis() {}

    /** Which GPUs of tenants others use too. */
    static Finding of(Collection<Lease> leases, GpuNames names) {
        List<Lease> shared = leases.stream()
                .filter(lease -> lease.intruders().isPresent())
                .sorted((one, other) -> one.gpuId().compareTo(other.gpuId()))
                .toList();
        return shared.isEmpty()
                ? Finding.ok("intruders", "no GPU of a tenant is known to be used by others too")
                : Finding.warn(
                        "intruders",
                        "%d of %d are used by others too: %s"
                                .formatted(
                                        shared.size(),
                                        leases.size(),
                                        Diagnosis.some(
                                                shared, lease -> names.of(lease.gpuId()) + ", " + EventText.of(lease))),
                        "stop the others, or leave them: the GPU is foreign when its tenant leaves and they stay");
    }

    /** The users beside the tenant of a GPU, for tools; nothing if there are none. */
    static void put(ObjectNode gpu, Lease lease) {
        lease.intruders().ifPresent(others -> {
            ObjectNode json =
                    gpu.putObject("intruders").put("since", others.since().toString());
            ArrayNode users = json.putArray("users");
            others.users().forEach(users::add);
        });
    }
}
