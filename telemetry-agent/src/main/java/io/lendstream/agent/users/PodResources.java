package io.lendstream.agent.users;

import static io.lendstream.agent.users.Protobuf.text;

import java.util.ArrayList;
import java.util.List;

/**
 * The kubelet's answer to {@code List}: the devices of each container of each pod.
 *
 * @see <a href="https://github.com/kubernetes/kubelet/blob/master/pkg/apis/podresources/v1/api.proto">its messages</a>;
 *     these fields are read: {@code ListPodResourcesResponse.pod_resources} (1); {@code PodResources.name} (1),
 *     {@code namespace} (2), {@code containers} (3); {@code ContainerResources.name} (1), {@code devices} (2),
 *     {@code dynamic_resources} (5); {@code ContainerDevices.resource_name} (1), {@code device_ids} (2);
 *     {@code DynamicResource.claim_resources} (4); {@code ClaimResource.cdi_devices} (1); {@code CDIDevice.name} (1)
 */
final class PodResources {
    private PodResources() {}

    /**
     * All devices of containers.
     *
     * @throws IllegalArgumentException if the bytes are not such an answer
     */
    static List<DeviceHolding> read(byte[] response) {
        var holdings = new ArrayList<DeviceHolding>();
        for (byte[] pod : fields(response, 1)) {
            String name = name(pod, 1);
            String namespace = name(pod, 2);
            for (byte[] container : fields(pod, 3)) {
                String called = name(container, 1);
                for (byte[] devices : fields(container, 2)) {
                    String resource = name(devices, 1);
                    for (byte[] device : fields(devices, 2)) {
                        holdings.add(new DeviceHolding(namespace, name, called, resource, text(device)));
                    }
                }
                for (byte[] claim : fields(container, 5)) {
                    claimed(claim)
                            .forEach(cdi -> holdings.add(new DeviceHolding(
                                    namespace, name, called, cdi.substring(0, cdi.indexOf('=')), cdi)));
                }
            }
        }
        return holdings;
    }

    /** Full names of a claim's devices by CDI: vendor/class=device. */
    private static List<String> claimed(byte[] claim) {
        return fields(claim, 4).stream()
                .flatMap(resource -> fields(resource, 1).stream())
                .map(device -> name(device, 1))
                .filter(device -> device.indexOf('=') > 0)
                .toList();
    }

    private static List<byte[]> fields(byte[] message, int wanted) {
        var found = new ArrayList<byte[]>();
        Protobuf.read(message, (field, value) -> {
            if (field == wanted) {
                found.add(value);
            }
        });
        return found;
    }

    /** A field's text; a missing field is empty, as in protocol buffers. */
    private static String name(byte[] message, int wanted) {
        List<byte[]> found = fields(message, wanted);
        return found.isEmpty() ? "" : text(found.get(found.size() - 1));
    }
}
