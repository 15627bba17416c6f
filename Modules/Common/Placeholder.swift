import Crypto
import Logging
import OrderedCollections
