package io.lendstream.agent.users;

/**
 * A device that a container was given.
 *
 * @param resource as pods request it, such as {@code nvidia.com/gpu}; for a resource claim, its devices' vendor and
 *     class
 * @param device name from its plugin; for NVIDIA the UUID of a GPU or a MIG device
 */
record DeviceHolding(String namespace, String pod, String container, String resource, String device) {
    /** The form in records. Kubernetes allows no slash in names. */
    String user() {
        return "kubernetes/%s/%s/%s".formatted(namespace, pod, container);
    }
}
