package io.lendstream.actuator.standby;

import io.lendstream.service.host.HostName;

/** The name of this process for people, such as {@code pid 4711 on gpu-7}. */
final class InstanceName {
    private InstanceName() {}

    static String ofThisProcess() {
        return "pid %d on %s".formatted(ProcessHandle.current().pid(), HostName.ofTheMachine());
    }
}
