/** Runs the suite with the lean transport for Node. */
import { Layer } from "effect"
import * as Node from "effect-identity-client/Node"
import { main } from "../process.js"

main(Layer.orDie(Node.layerHttpClient))
