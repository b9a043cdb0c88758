package io.lendstream.agent.users;

/** The reader of the kubelet's answers. */
public final class KubeletReader {
    private KubeletReader() {}

    public static void read(byte[] response) {
        try {
            PodResources.read(response);
        } catch (IllegalArgumentException e) {
            // No such answer.
        }
    }
}
