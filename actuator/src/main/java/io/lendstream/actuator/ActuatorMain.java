package io.lendstream.actuator;

import io.lendstream.service.ServiceCommand;

/** The actuator's process. */
public final class ActuatorMain {
    private ActuatorMain() {}

    public static void main(String[] arguments) {
        System.exit(ServiceCommand.execute(new ActuatorCommand(), arguments));
    }
}
