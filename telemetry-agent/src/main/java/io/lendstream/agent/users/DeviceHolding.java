package io.lendstream.agent.users;

/**
 * A device that a container was given.
 *
 * @param resource as pods ask for it, such as {@code nvidia.com/gpu}; of a resource claim its devices' vendor and class
 * @param device as its plugin calls it; for NVIDIA's a uuid, of a GPU or a MIG device
 */
record DeviceHolding(String namespace, String pod, String container, String resource, String device) {
    /** As records have it. Kubernetes allows no slash in names. */
    String user() {
        return "kubernetes/%s/%s/%s".formatted(namespace, pod, container);
    }
}
